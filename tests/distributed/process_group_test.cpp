// ProcessGroup over all transports: values, order, checks and the default group.

#include "libmini/distributed/launch/default_group.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/require_none.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

TEST_CASE("tensors that share memory are rejected, and the group stays usable") {
    const auto groups = make_groups("threads", 2);
    const std::vector<std::string> found = [&] {
        std::vector<std::string> texts(2);
        on_each(groups, [&](ProcessGroup& group, int rank) {
            const Tensor memory = Tensor::zeros({8});
            const auto at = [&](int64_t begin) {
                return ops::narrow(memory, 0, begin, 2);
            };
            const auto mine = static_cast<size_t>(rank), other = 1 - mine;
            const std::vector<Tensor> pair{at(0), at(2)}, same{at(0), at(0)};
            const std::vector<Tensor> shifted{at(1), at(4)};
            std::string& text = texts[mine];
            const auto call = [&](const std::function<void()>& body) {
                text += contains(failure_of(body), "share memory") ? "1" : "0";
            };
            call([&] { group.reduce_scatter(pair[other], pair); });
            call([&] { group.reduce_scatter(at(1), pair); });
            call([&] { group.all_to_all(pair, pair); });
            call([&] { group.all_to_all(shifted, pair); });
            call([&] { group.all_gather(same, at(4)); });
            call([&] { group.all_gather(pair, pair[other]); });
            call([&] { group.all_gather(pair, at(1)); });

            // These are right: inputs that are one tensor, and interleaved columns.
            const Tensor matrix = Tensor::zeros({2, 2});
            const auto column = [&](int64_t i) { return ops::select(matrix, 1, i); };
            call([&] { group.all_to_all(pair, {at(4), at(4)}); });
            call([&] { group.all_gather({column(0), column(1)}, at(4)); });
        });
        return texts;
    }();
    for (const std::string& text : found) CHECK(text == "111111100");
}

TEST_CASE("an expanded tensor is rejected at once, and the group stays usable") {
    const auto groups = make_groups("threads", 2);
    on_each(groups, [&](ProcessGroup& group, int rank) {
        const Tensor expanded = ops::expand(Tensor::ones({1}), {3});
        if (rank == 0)
            REQUIRE(contains(failure_of([&] { group.all_reduce(expanded); }),
                             "several elements at one address"));
        Tensor sum = Tensor::ones({1});
        group.all_reduce(sum);
        REQUIRE(sum.item() == 2);
    });
}

TEST_CASE("an async operation returns before the other ranks have called the operation") {
    const auto groups = make_groups(any_transport(), 2);
    Tensor a = Tensor::full({100}, 1), b = Tensor::full({100}, 2);
    const auto work = groups[0]->all_reduce_async(a, ReduceOp::kSum);
    CHECK_FALSE(work->is_completed());  // rank 1 has not called all_reduce yet
    const auto other = groups[1]->all_reduce_async(b, ReduceOp::kSum);
    work->wait();
    other->wait();
    CHECK(work->is_completed());
    CHECK(a.to_vector<float>() == std::vector<float>(100, 3.0f));
    CHECK(b.to_vector<float>() == std::vector<float>(100, 3.0f));
}

TEST_CASE("async operations run one after another in call order") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const auto groups = make_groups(kind, 3);
    constexpr int kCount = 50;
    on_each(groups, [&](ProcessGroup& group, int /*rank*/) {
        std::vector<std::shared_ptr<Work>> works;
        for (int i = 0; i < kCount; ++i)
            works.push_back(group.all_reduce_async(Tensor::ones({i}), ReduceOp::kSum));
        works.back()->wait();
        for (const auto& work : works)
            MINI_CHECK(work->is_completed(), "an earlier operation is not done");
    });
    for (const auto& group : groups) {
        const auto events = group->events().snapshot();
        REQUIRE(events.size() == 2 * kCount);
        for (size_t i = 0; i < events.size(); i += 2) {
            CHECK(events[i].kind == EventKind::kCollectiveBegin);
            CHECK(events[i].index == static_cast<int64_t>(i / 2));
            CHECK(std::string(events[i].name) == "all_reduce");
            CHECK(events[i + 1].kind == EventKind::kCollectiveEnd);
            CHECK(events[i + 1].index == static_cast<int64_t>(i / 2));
        }
    }
}

TEST_CASE(
    "the event log has the payload at the beginning and the bytes sent at the end") {
    const auto groups = make_groups(any_transport(), 4);
    require_none(on_ranks(4, [&](int rank) {
        groups[static_cast<size_t>(rank)]->all_reduce(Tensor::ones({400}), ReduceOp::kSum,
                                                      Algorithm::kRing);
        groups[static_cast<size_t>(rank)]->barrier();
    }));
    const auto events = groups[2]->events().snapshot();
    REQUIRE(events.size() == 4);
    CHECK(events[0].bytes == 1600);
    CHECK(std::string(events[1].algorithm) == "ring");
    CHECK(events[1].messages == 6);  // 2 * 3
    CHECK(events[1].bytes == 2400);  // 2 * 3/4 of 1600
    CHECK(std::string(events[2].name) == "barrier");
    CHECK(events[3].messages == 2);  // log2 of 4
    CHECK(events[3].bytes == 0);
}

TEST_CASE("an invalid tensor is rejected immediately and the group stays usable") {
    const auto groups = make_groups("threads", 1);
    ProcessGroup& group = *groups[0];
    const auto text = [](auto call) { return failure_of(call); };
    CHECK(contains(text([&] { group.all_reduce(Tensor()); }), "undefined"));
    const Tensor integers = Tensor::zeros({2}, DType::kInt64);
    CHECK(contains(text([&] { group.all_reduce(integers, ReduceOp::kAvg); }),
                   "needs floating-point numbers, but the tensor is int64"));
    CHECK(contains(text([&] { group.broadcast(integers, 1); }), "root is 1"));
    CHECK(contains(text([&] { group.all_gather({}, integers); }),
                   "0 outputs on rank 0 of 1; there must be 1"));
    CHECK(contains(text([&] { group.all_gather({Tensor::zeros({2})}, integers); }),
                   "one tensor is (2,) of int64 but another is (2,) of float32"));
    group.all_reduce(integers);
}

TEST_CASE(
    "one tensor for the blocks of all ranks has to be contiguous and of their size") {
    const auto groups = make_groups("threads", 1);
    ProcessGroup& group = *groups[0];
    const Tensor two = Tensor::zeros({2}), three = Tensor::zeros({3});
    const Tensor column = ops::select(Tensor::zeros({2, 2}), 1, 0);
    const auto text = [](auto call) { return failure_of(call); };
    CHECK(contains(text([&] { group.all_gather_into_tensor(three, two); }),
                   "(3,) does not have the elements of 1 times (2,)"));
    CHECK(contains(text([&] { group.reduce_scatter_tensor(two, three); }),
                   "(3,) does not have the elements of 1 times (2,)"));
    CHECK(contains(text([&] { group.all_gather_into_tensor(column, two); }),
                   "which is not contiguous"));
    CHECK(contains(text([&] { group.all_to_all_single(column, two); }),
                   "is not contiguous"));
    CHECK(contains(text([&] { group.all_to_all_single(two, three, {2}, {2}); }),
                   "(3,) cannot be split into 1 parts of the sizes (2,)"));
    CHECK(contains(text([&] { group.all_to_all_single(two, three, {2}, {3}); }),
                   "rank 0 sends itself (3,), but expects (2,)"));
    group.all_gather_into_tensor(ops::view(two, {1, 2}), two);  // in place
}

TEST_CASE("all_to_all_single sends rows, and reports a part of an unexpected size") {
    const auto groups = make_groups(any_transport(), 2);
    on_each(groups, [&](ProcessGroup& group, int rank) {
        // Rank 0 keeps two rows and sends the third; rank 1 sends its only row.
        using Values = std::vector<float>;
        const bool is_first = rank == 0;
        const Tensor input = is_first ? Tensor::from(Values{1, 2, 3, 4, 5, 6}, {3, 2})
                                      : Tensor::from(Values{7, 8}, {1, 2});
        const Tensor output = Tensor::zeros({is_first ? 3 : 1, 2});
        const Shape sizes = is_first ? Shape{2, 1} : Shape{1, 0};
        group.all_to_all_single(output, input, sizes, sizes);
        MINI_CHECK(output.to_vector<float>() ==
                       (is_first ? Values{1, 2, 3, 4, 7, 8} : Values{5, 6}),
                   "rank ", rank, " received other rows");
    });
    const auto texts = texts_of(2, [&](int rank) {
        const Shape received = {2, rank == 0 ? 1 : 2};
        groups[static_cast<size_t>(rank)]->all_to_all_single(
            Tensor::zeros({received[0] + received[1]}), Tensor::zeros({4}), received,
            {2, 2});
    });
    CHECK(contains(texts[0],
                   "rank 1 sent 8 bytes where rank 0 expects 4 in all_to_all "
                   "#1 (uneven parts float32 per rank)"));
}

TEST_CASE("a collective increments the version of its output tensors once") {
    const auto groups = make_groups("threads", 1);
    Tensor x = Tensor::zeros({2}), y = Tensor::zeros({2});
    const uint64_t x_before = x.version(), y_before = y.version();
    groups[0]->all_reduce(x);
    groups[0]->all_gather({y}, x);
    CHECK(x.version() == x_before + 1);
    CHECK(y.version() == y_before + 1);
}

TEST_CASE("shutdown finishes the operations in flight and later operations throw") {
    const auto groups = make_groups(any_transport(), 2);
    std::vector<std::shared_ptr<Work>> works;
    for (const auto& group : groups)
        for (int i = 0; i < 10; ++i) works.push_back(group->barrier_async());
    require_none(
        on_ranks(2, [&](int rank) { groups[static_cast<size_t>(rank)]->shutdown(); }));
    for (const auto& work : works) {
        CHECK(work->is_completed());
        work->wait();
    }
    CHECK(contains(failure_of([&] { groups[0]->barrier(); }), "has been shut down"));
    groups[0]->shutdown();
}

TEST_CASE("the destructor drops the operations in flight instead of waiting for them") {
    auto groups = make_groups(any_transport(), 2);
    const auto first = groups[0]->barrier_async();
    const auto second = groups[0]->barrier_async();
    groups[0] = nullptr;  // rank 1 never calls a barrier
    CHECK(failure_of([&] { first->wait(); }) != "");
    CHECK(contains(failure_of([&] { second->wait(); }), "rank 0 dropped its group"));

    // The first barrier may succeed: rank 0 may have sent its message before it dropped
    // the group. It cannot have sent the second barrier's message.
    const std::string other = failure_of([&] {
        groups[1]->barrier();
        groups[1]->barrier();
    });
    CHECK(contains(other, "PeerLost(0)"));
}

TEST_CASE("every call that needs a default group throws without one") {
    CHECK_FALSE(is_initialized());
    for (const auto& text :
         {failure_of([] { get_rank(); }), failure_of([] { get_world_size(); }),
          failure_of([] { default_group(); }),
          failure_of([] { destroy_process_group(); })})
        CHECK(contains(text, "default process group has not been initialized"));
}

TEST_CASE(
    "init_process_group makes the default group of this thread and throws if it exists") {
    const InitOptions alone = {.init_method = "tcp://127.0.0.1:0?rank=0&world_size=1"};
    const auto group = init_process_group(alone);
    CHECK(is_initialized());
    CHECK(default_group() == group);
    CHECK(group->backend() == "ring");
    CHECK(group->timeout() == std::chrono::minutes(5));
    CHECK(get_rank() == 0);
    CHECK(get_world_size() == 1);
    CHECK(contains(failure_of([] { init_process_group(); }),
                   "initialize the default process group twice"));
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_initialized(); }).join();
    CHECK_FALSE(elsewhere);
    destroy_process_group();
    CHECK_FALSE(is_initialized());
    CHECK(contains(failure_of([&] { group->barrier(); }), "has been shut down"));
    init_process_group(alone)->barrier();
    destroy_process_group();
}

TEST_CASE("init_process_group rejects invalid options") {
    CHECK(contains(failure_of([] { init_process_group({.timeout = milliseconds(0)}); }),
                   "must be positive"));
    CHECK(contains(
        failure_of([] { init_process_group({.backend = "threads", .world_size = 2}); }),
        "run_threads"));
    CHECK(
        contains(failure_of([] { init_process_group(); }), "RANK expected, but not set"));
    CHECK_FALSE(is_initialized());
}

TEST_CASE("ranks that shut down immediately after init do not disturb each other") {
    for (int round = 0; round < 5; ++round) {
        const int port = free_port();
        require_none(on_ranks(4, [&](int rank) {
            make_ring_group({{"127.0.0.1", port}, rank, 4, Cookie{}}, Medium::kAuto,
                            kLong)
                ->shutdown();
        }));
    }
}

TEST_CASE("ranks start although another client stays connected to the store") {
    // If rank 0 waited until that client leaves, the other ranks would time out.
    const int P = 4, port = free_port();
    std::promise<void> kept, over;
    std::thread client([&] {
        const TcpStore store({"127.0.0.1", port}, Cookie{}, deadline_after(kLong));
        kept.set_value();
        over.get_future().wait();
    });
    const auto is_kept = kept.get_future().share();
    const auto failures = on_ranks(P, [&](int rank) {
        if (rank == P - 1) is_kept.wait();
        const auto group =
            make_ring_group({{"127.0.0.1", port}, rank, P, Cookie{}}, Medium::kAuto,
                            rank == 0 ? kLong : milliseconds(8000), "");
        group->barrier();
        group->shutdown();
    });
    over.set_value();
    client.join();
    require_none(failures);
}
