// Backend nccl if a rank does not call an operation, or a GPU does not reach it: every
// operation ends, with an error that names the missing rank.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/distributed/manual_time.hpp"
#include "tests/extras/backends/nccl/support.hpp"
#include "tests/support/caching.hpp"
#include "tests/support/watched_stream.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Rank 0 starts a thousand collectives before rank 1 starts any. Returns the ranks' failures.
auto start_a_thousand(bool rank_1_calls) {
    std::promise<void> all_started;
    const auto body = [&](QueuedGroup& group, Device device) {
        if (group.rank() == 1) all_started.get_future().wait();
        if (group.rank() == 1 && !rank_1_calls) return group.abandon("rank 1 has failed");
        const Tensor x = filled(10, 1, device);
        std::vector<WorkHandle> all;
        for (int i = 0; i < 1000; ++i)
            all.push_back(group.all_reduce_async(x, ReduceOp::kMax));
        if (group.rank() == 0) all_started.set_value();
        for (const WorkHandle& work : all) work->wait();
        expect(x, 1);
    };
    return on_gpus(2, body);
}

// Runs body(group, device) on rank 0 of two ranks, of which rank 1 calls nothing until
// `body` has ended. Returns the text of rank 0's exception, "" without one or without GPUs.
std::string alone_on_rank_0(const std::function<void(QueuedGroup&, Device)>& body) {
    if (!has_gpus(2)) return "";
    std::promise<void> over;
    const auto failures = on_gpus(2, [&](QueuedGroup& group, Device device) {
        if (group.rank() == 1) return over.get_future().wait();
        const std::shared_ptr<void> at_end(nullptr, [&](void*) { over.set_value(); });
        body(group, device);
    });
    return text_of(failures[0]);
}

}  // namespace

TEST_CASE(
    "a thousand collectives that wait for a rank do not fill the stream, and fail if "
    "this "
    "rank fails") {
    if (!has_gpus(2)) return;
    require_none(start_a_thousand(true));
    CHECK(contains(text_of(start_a_thousand(false)[0]), "rank 1 has failed"));
}

TEST_CASE("a rank that fails after wait has returned is named by the next call") {
    if (!has_gpus(2)) return;
    const bool calls = GENERATE(true, false);  // false: shutdown throws
    CAPTURE(calls);
    std::promise<void> has_waited;
    const auto failures = on_gpus(2, [&](QueuedGroup& group, Device device) {
        if (group.rank() == 1) {
            has_waited.get_future().wait();
            group.abandon("rank 1 has failed");
            return;
        }
        const Tensor x = filled(10, 1, device);
        const auto work = group.all_reduce_async(x);
        work->wait();
        has_waited.set_value();
        cuda::synchronize(device.index);  // would block forever without the abort
        while (!work->is_completed()) std::this_thread::yield();
        if (calls) group.all_reduce(x);
    });
    CHECK(contains(text_of(failures[0]), "PeerLost(1)"));
    CHECK(contains(text_of(failures[0]), calls ? "all_reduce: " : "shutdown: "));
    CHECK(contains(text_of(failures[0]), "rank 1 has failed"));
    CHECK(text_of(failures[1]) == "");
}

TEST_CASE(
    "a collective that only one rank has launched fails at its deadline, and with it the "
    "operations that follow") {
    const std::string next = GENERATE("all_reduce", "send", "recv");
    CAPTURE(next);
    const auto body = [&](QueuedGroup& group, Device device) {
        const Tensor x = filled(10, 1, device);
        const auto work = group.start(all_reduce_within(milliseconds(1000), x));
        failure_of(
            [&] { work->wait(); });  // on a busy machine it may already have timed out
        const std::string text = failure_of([&] {
            if (next == "send") group.send(x, 1);
            if (next == "recv") group.recv(x, 1);
            while (!work->is_completed()) std::this_thread::yield();
            group.all_reduce(x);
        });
        MINI_CHECK(contains(text, "rank 0 waited") &&
                       contains(text, "in all_reduce #1 (sum of 10 float32)") &&
                       contains(text, "rank 1 is silent"),
                   text);
        MINI_CHECK(next != "all_reduce" ||
                       contains(text, "Timeout: all_reduce: the group is broken: "),
                   text);
    };
    CHECK(alone_on_rank_0(body) == "");
}

TEST_CASE("a message fails at its deadline if the GPU never reaches its tensor") {
    const auto body = [&](QueuedGroup& group, Device device) {
        mini::test::WatchedStream held(device.index);
        const cuda::StreamGuard guard(device.index, held.get());
        const Tensor x = filled(3, 0, device);
        const std::string text = failure_of(
            [&] { group.start(send_within(milliseconds(300), x, 1))->wait(); });
        MINI_CHECK(contains(text, "Timeout: rank 0 waited 0.3 s in send to rank 1") &&
                       contains(text, "for the GPU to reach its tensor"),
                   text);
    };
    CHECK(alone_on_rank_0(body) == "");
}

TEST_CASE(
    "a collective's timeout does not run while it waits for another group's launch") {
    ManualTime time;
    on_each_gpu(2, [&](QueuedGroup& group, Device device) {
        const auto other = group.new_group({0, 1});
        const Tensor x = filled(10, 1, device);
        if (group.rank() == 0) {
            const auto barrier = group.start(
                {.operation = Operation::kBarrier, .timeout = std::chrono::minutes(10)});
            const auto first = group.all_reduce_async(filled(10, 1, device));
            const auto second =
                other->start(all_reduce_within(std::chrono::minutes(9), x));
            time.until_awaited(std::chrono::minutes(5));  // half the barrier's timeout
            time.advance(std::chrono::minutes(10));
            time.until_awaited(std::chrono::seconds(30));  // for a report from rank 1
            time.advance(std::chrono::seconds(30));
            const std::string text = failure_of([&] { first->wait(); });
            MINI_CHECK(contains(text, "waited 600 s for rank 1 in barrier"), text);
            second->wait();
        } else {
            other->start(all_reduce_within(std::chrono::hours(1), x))->wait();
        }
        expect(x, 2);
        other->shutdown();
    });
}

TEST_CASE("a group can be destroyed while its GPU never reaches a collective") {
    const int port = free_port();
    auto group = make_nccl_group({{"127.0.0.1", port}, 0, 1, Cookie{}}, false, kLong);
    const Device device = default_device().is_cuda() ? default_device() : Device::cuda(0);
    mini::test::WatchedStream held(device.index);
    const cuda::StreamGuard guard(device.index, held.get());
    const Tensor x = filled(10, 1, device);
    const bool fails_first = GENERATE(true, false);
    const auto work = group->start(
        all_reduce_within(fails_first ? milliseconds(300) : std::chrono::minutes(10), x));
    failure_of([&] { work->wait(); });  // now the collective is launched, or has failed
    if (fails_first) {
        while (!work->is_completed()) std::this_thread::yield();
        CHECK(
            contains(failure_of([&] { work->wait(); }), "Timeout: rank 0 waited 0.3 s"));
    }
    group = nullptr;
    CHECK(work->is_completed());
}

TEST_CASE(
    "tensors that only a collective holds are freed by a thread that may wait for the "
    "GPU") {
    if (!has_gpus(2)) return;
    const mini::test::Caching off(false);
    std::promise<void> over;
    const auto body = [&](QueuedGroup& group, Device device) {
        const auto first = group.all_reduce_async(filled(10, 1, device));
        if (group.rank() == 1) return over.get_future().wait();
        const std::string text = failure_of([&] {
            const auto second =
                group.start(all_reduce_within(milliseconds(1000), filled(10, 1, device)));
            failure_of([&] { second->wait(); });
            while (!second->is_completed()) std::this_thread::yield();
            group.barrier();
        });
        over.set_value();
        MINI_CHECK(contains(text, "waited 1 s in all_reduce #2"), text);
    };
    CHECK(text_of(on_gpus(2, body)[0]) == "");
}
