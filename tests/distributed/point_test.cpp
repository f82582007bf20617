// Point-to-point messages: order, tags, and any source. Messages and collectives do not
// wait for each other.

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/distributed/conformance.hpp"
#include "tests/distributed/require_none.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

Tensor number(double value) { return Tensor::full({1}, value, DType::kInt64); }

int64_t value_of(const Tensor& x) { return x.to_vector<int64_t>()[0]; }

}  // namespace

TEST_CASE("receives that are posted first do not block later sends") {
    const int64_t n = GENERATE(1, 1000, 5'000'000);
    const auto groups = make_groups(any_transport(), 2);
    std::vector<Tensor> got = {Tensor::zeros({n}), Tensor::zeros({n})};
    on_each(groups, [&](ProcessGroup& group, int rank) {
        const auto in = group.recv_async(got[static_cast<size_t>(rank)], 1 - rank);
        const auto out = group.send_async(Tensor::full({n}, rank + 1), 1 - rank);
        out->wait();
        in->wait();
    });
    CHECK(got[0].to_vector<float>() == std::vector<float>(static_cast<size_t>(n), 2.0f));
    CHECK(got[1].to_vector<float>() == std::vector<float>(static_cast<size_t>(n), 1.0f));
}

TEST_CASE("messages of one tag arrive in order even if another tag is received first") {
    const auto groups = make_groups(any_transport(), 2);
    std::vector<int64_t> got;
    on_each(groups, [&](ProcessGroup& group, int rank) {
        if (rank == 0) {
            for (int i = 0; i < 10; ++i) {
                group.send(number(i), 1, 1);
                group.send(number(100 + i), 1, 2);
            }
            return;
        }
        // Receive the messages of tag 2 first. The messages of tag 1 wait on this rank.
        Tensor x = number(0);
        for (const uint64_t tag : {2, 1})
            for (int i = 0; i < 10; ++i) {
                group.recv(x, 0, tag);
                got.push_back(value_of(x));
            }
    });
    std::vector<int64_t> expected;
    for (int i = 0; i < 20; ++i) expected.push_back(i < 10 ? 100 + i : i - 10);
    CHECK(got == expected);
}

TEST_CASE("of two receives that match a message the one posted first gets it") {
    const bool any_is_first = GENERATE(true, false),
               arrives_early = GENERATE(true, false);
    CAPTURE(any_is_first, arrives_early);
    const auto groups = make_groups(any_transport(), 2);
    on_each(groups, [&](ProcessGroup& group, int rank) {
        if (rank == 1) {
            if (!arrives_early) group.barrier();
            for (const int value : {1, 2}) group.send(number(value), 0, 3);
            return group.send(number(0), 0, 4);
        }
        const Tensor one = number(0), two = number(0);
        if (arrives_early) group.recv(number(0), 1, 4);  // the last message
        const WorkHandle first = group.recv_async(one, any_is_first ? kAnySource : 1, 3);
        const WorkHandle second = group.recv_async(two, any_is_first ? 1 : kAnySource, 3);
        if (!arrives_early) group.barrier();
        first->wait();
        second->wait();
        MINI_CHECK(value_of(one) == 1 && value_of(two) == 2, "the second receive got 1");
        if (!arrives_early) group.recv(number(0), 1, 4);
    });
}

TEST_CASE("a message overtakes a waiting collective of the sender or of the receiver") {
    const auto groups = make_groups(any_transport(), 2);
    on_each(groups, [&](ProcessGroup& group, int rank) {
        Tensor sum = Tensor::ones({10}), x = number(0);
        if (rank == 0) {
            // The all-reduce cannot end before rank 1 has this message.
            const auto work = group.all_reduce_async(sum);
            group.send(number(5), 1);
            work->wait();
        } else {
            group.recv(x, 0);
            MINI_CHECK(value_of(x) == 5, value_of(x));
            group.all_reduce(sum);
        }
        MINI_CHECK(sum.to_vector<float>()[9] == 2.0f, "the sum is wrong");
    });
}

TEST_CASE("a collective's message that arrives early does not block later messages") {
    const int64_t n = GENERATE(10, 1'000'000);
    const auto groups = make_groups(any_transport(), 2);
    on_each(groups, [&](ProcessGroup& group, int rank) {
        Tensor x = number(0), data = Tensor::full({n}, rank);
        if (rank == 0) {
            const auto work = group.broadcast_async(data, 0);
            group.send(number(6), 1);
            work->wait();
        } else {
            group.recv(x, 0);  // rank 0 sent the broadcast before this message
            group.broadcast(data, 0);
            MINI_CHECK(value_of(x) == 6, value_of(x));
            MINI_CHECK(data.to_vector<float>().back() == 0.0f, "not the root's data");
        }
    });
}

TEST_CASE(
    "a receive whose size differs from the send is an error that names both sizes") {
    const auto groups = make_groups(any_transport(), 2);
    const auto failures = on_ranks(2, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        if (rank == 0) return group.send(Tensor::zeros({3}), 1, 7);
        group.recv(Tensor::zeros({4}), 0, 7);
    });
    const std::string text = text_of(failures[1]);
    CAPTURE(text);
    CHECK(contains(text, "MismatchedCollective"));
    CHECK(contains(text, "rank 0 sent 12 bytes where rank 1 expects 16"));
    CHECK(contains(text, "tag 7"));
}

TEST_CASE("a receive that no rank sends to fails at its deadline and names the rank") {
    const auto groups = make_groups(any_transport(), 3, milliseconds(200));
    const std::string one = failure_of([&] { groups[0]->recv(number(0), 2, 9); });
    CHECK(contains(one,
                   "Timeout: rank 0 waited 0.2 s in recv from rank 2 (tag 9, 1 int64)"));
    const std::string any = failure_of([&] { groups[1]->recv(number(0), kAnySource); });
    CAPTURE(any);
    CHECK(any != "");
}

TEST_CASE(
    "a receive from a rank that leaves, or from any when all have, throws PeerLost") {
    auto groups = make_groups(any_transport(), 3);
    const auto any = groups[0]->recv_async(number(0), kAnySource, 1);
    groups[1] = nullptr;
    groups[2]->send(number(7), 0, 1);
    any->wait();  // rank 2 is left
    const auto last = groups[0]->recv_async(number(0), kAnySource, 1);
    const auto work = GENERATE(true, false) ? last : groups[0]->recv_async(number(0), 2);
    groups[2] = nullptr;
    CHECK(contains(failure_of([&] { work->wait(); }), "PeerLost(2)"));
}

TEST_CASE("messages to the rank itself or to an invalid peer are rejected immediately") {
    const auto groups = make_groups("threads", 2);
    CHECK(contains(failure_of([&] { groups[0]->send(number(0), 0); }), "its own peer"));
    CHECK(contains(failure_of([&] { groups[0]->send(number(0), 2); }),
                   "the peer is 2 but the world size is 2"));
    CHECK(contains(failure_of([&] { groups[0]->send(number(0), kAnySource); }),
                   "the peer is -1"));
}

TEST_CASE("shutdown finishes the messages in flight") {
    const auto groups = make_groups(any_transport(), 2);
    std::vector<Tensor> got;
    for (int i = 0; i < 20; ++i) got.push_back(number(-1));
    on_each(groups, [&](ProcessGroup& group, int rank) {
        for (int i = 0; i < 20; ++i) {
            if (rank == 0) group.send_async(number(i), 1, static_cast<uint64_t>(i));
            if (rank == 1)
                group.recv_async(got[static_cast<size_t>(19 - i)], 0,
                                 static_cast<uint64_t>(19 - i));
        }
        group.shutdown();
    });
    for (int i = 0; i < 20; ++i) CHECK(value_of(got[static_cast<size_t>(i)]) == i);
}

TEST_CASE("two threads that block in one group at the same time get an error") {
    const auto groups = make_groups("threads", 2);
    // Block one thread in a barrier that rank 1 has not called; then call barrier on this
    // thread too.
    std::thread first([&] { groups[0]->barrier(); });
    while (groups[0]->events().snapshot().empty()) std::this_thread::yield();
    const std::string text = failure_of([&] { groups[0]->barrier(); });
    groups[1]->barrier();
    first.join();
    CHECK(contains(text, "barrier: two threads call blocking operations of one group"));
}

TEST_CASE("reserved tags work for the library and are rejected for programs") {
    const int P = GENERATE(1, 2, 3, 4, 7);
    const auto groups = make_groups(any_transport(), P);
    require_none(on_ranks(
        P, [&](int rank) { check_reserved_tags(*groups[static_cast<size_t>(rank)]); }));
}
