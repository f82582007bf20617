// Backend "gloo" with one process per rank: results, and the errors on the other ranks
// when one rank is killed, is stopped, exits, or calls another collective.

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/distributed/conformance.hpp"
#include "tests/distributed/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/read_file.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Calls all_reduce until it throws.
void reduce_forever(ProcessGroup& group, int64_t n) {
    const Tensor x = Tensor::zeros({n});
    while (true) group.all_reduce(x);
}

}  // namespace

TEST_CASE("gloo computes every operation on every dtype correctly") {
    const int world_size = GENERATE(1, 2, 3, 4);
    const bool verify = GENERATE(true, false);
    Processes processes;
    processes.start(world_size, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, world_size, port, kLong, verify);
        MINI_CHECK(group->backend() == "gloo", "backend ", group->backend());
        check_all_operations(*group);
        destroy_process_group();
    });
    for (int rank = 0; rank < world_size; ++rank) {
        const std::string text = processes.report(rank);
        CAPTURE(world_size, verify, rank, text);
        CHECK(text == "");
    }
}

TEST_CASE("gloo supports ring and halving-doubling and rejects other algorithms") {
    Processes processes;
    processes.start(3, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 3, port);
        for (const Algorithm algorithm :
             {Algorithm::kRing, Algorithm::kHalvingDoubling}) {
            const Tensor x = tensor_of(numbers_of(rank, 1001), DType::kFloat32);
            group->all_reduce(x, ReduceOp::kSum, algorithm);
            expect(x, reduced(3, 1001, ReduceOp::kSum), algorithm_name(algorithm));
        }
        group->all_reduce(Tensor::zeros({8}), ReduceOp::kSum, Algorithm::kTree);
    });
    for (int rank = 0; rank < 3; ++rank) {
        const std::string text = processes.report(rank);
        CAPTURE(rank, text);
        CHECK(contains(text, "gloo has no algorithm \"tree\"; it has ring and halving"));
    }
}

TEST_CASE("monitored_barrier over gloo names the missing rank") {
    Processes processes;
    processes.start(3, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 3, port);
        miss_monitored_barrier(*group, milliseconds(1000));
    });
    const std::string text = processes.report(0);
    CAPTURE(text);
    CHECK(contains(text, "Timeout: monitored_barrier: rank 2 did not reach it"));
}

TEST_CASE("subgroups work over gloo") {
    Processes processes;
    processes.start(4, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 4, port);
        check_subgroups(*group);
        destroy_process_group();
    });
    for (int rank = 0; rank < 4; ++rank) {
        const std::string text = processes.report(rank);
        CAPTURE(rank, text);
        CHECK(text == "");
    }
}

TEST_CASE("if a rank of gloo is killed every other rank throws PeerLost naming it") {
    const int64_t n = GENERATE(1, 30'000, 5'000'000);
    const int victim = GENERATE(0, 1, 2);
    Processes processes;
    const Signal started;
    processes.start(3, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 3, port);
        group->all_reduce(Tensor::zeros({n}));
        if (rank == victim) started.give();
        reduce_forever(*group, n);
    });
    started.await();
    ::usleep(20'000);  // the kill may come at any moment of the loop
    processes.kill(victim, SIGKILL);
    for (int rank = 0; rank < 3; ++rank) {
        if (rank == victim) continue;
        const std::string text = processes.report(rank);
        CAPTURE(n, victim, rank, text);
        CHECK(contains(text, concat("PeerLost(", victim, ")")));
        CHECK(contains(text, "all_reduce #"));
    }
}

TEST_CASE(
    "if a gloo rank is stopped, every other rank throws Timeout and names the stopped "
    "rank") {
    const int victim = GENERATE(0, 1, 2);
    const bool in_the_middle = GENERATE(false, true);
    const int64_t n = in_the_middle ? 3'000'000 : 100;
    Processes processes;
    const Signal started;
    processes.start(3, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 3, port, milliseconds(2500));
        group->barrier();
        if (rank == victim) started.give();
        if (rank == victim && !in_the_middle) ::raise(SIGSTOP);
        reduce_forever(*group, n);
    });
    started.await();
    if (in_the_middle) ::usleep(50'000);
    if (in_the_middle) processes.kill(victim, SIGSTOP);
    for (int rank = 0; rank < 3; ++rank) {
        if (rank == victim) continue;
        const std::string text = processes.report(rank);
        CAPTURE(victim, in_the_middle, rank, text);
        CHECK(contains(text, "Timeout"));
        CHECK(contains(text, concat("rank ", victim, " is silent")));
        CHECK(contains(text, "all_reduce #"));
    }
}

TEST_CASE("if a gloo rank exits early, the error names this rank and the current call") {
    Processes processes;
    processes.start(2, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 2, port);
        if (rank == 1) ::_exit(0);
        group->all_reduce(Tensor::zeros({8}));
    });
    const std::string text = processes.report(0);
    CAPTURE(text);
    CHECK(contains(text, "PeerLost(1): rank 1 is gone"));
    CHECK(contains(text, "all_reduce #1 (sum of 8 float32)"));
}

TEST_CASE("a mismatch over gloo names both calls on every rank") {
    const int odd = GENERATE(0, 1, 2);
    const auto check = [&](const std::function<void(ProcessGroup&)>& usual,
                           const std::function<void(ProcessGroup&)>& other,
                           const std::string& one_side, const std::string& other_side) {
        Processes processes;
        processes.start(3, [&](int rank, int port) {
            const auto group = join_group("gloo", rank, 3, port);
            (rank == odd ? other : usual)(*group);
        });
        for (int rank = 0; rank < 3; ++rank) {
            const std::string text = processes.report(rank);
            CAPTURE(odd, rank, text);
            CHECK(contains(text, "MismatchedCollective"));
            CHECK(contains(text, one_side));
            CHECK(contains(text, concat("rank ", odd, " runs ", other_side)));
        }
    };
    const auto reduce = [](ProcessGroup& group) { group.all_reduce(Tensor::zeros({8})); };
    check(
        reduce, [](ProcessGroup& group) { group.all_reduce(Tensor::zeros({9})); },
        "all_reduce #1 (sum of 8 float32)", "all_reduce #1 (sum of 9 float32)");
    check(
        reduce, [](ProcessGroup& group) { group.barrier(); },
        "all_reduce #1 (sum of 8 float32)", "barrier #1");
    check([](ProcessGroup& group) { group.broadcast(Tensor::zeros({8}), 0); },
          [](ProcessGroup& group) { group.broadcast(Tensor::zeros({8}), 1); },
          "from rank 0", "broadcast #1 (8 float32 from rank 1)");
}

TEST_CASE(
    "a message of the wrong size over gloo throws on both ranks instead of aborting") {
    Processes processes;
    processes.start(2, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 2, port);
        if (rank == 0) group->send(Tensor::zeros({9}), 1, 5);
        if (rank == 1) group->recv(Tensor::zeros({8}), 0, 5);
        group->barrier();
    });
    for (int rank = 0; rank < 2; ++rank) {
        const std::string text = processes.report(rank);
        CAPTURE(rank, text);
        CHECK(contains(text, "MismatchedCollective"));
        CHECK(contains(text, "rank 0 sent 36 bytes where rank 1 expects 32"));
    }
}

TEST_CASE("a receive over gloo without a send is a Timeout that names the rank") {
    Processes processes;
    processes.start(2, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 2, port, kLong);
        if (rank == 1) ::raise(SIGSTOP);
        Call call = recv_within(milliseconds(1500), Tensor::zeros({8}), 1);
        call.tag = 5;
        group->start(call)->wait();
    });
    const std::string text = processes.report(0);
    CAPTURE(text);
    CHECK(contains(text, "rank 0 waited 1.5 s in recv from rank 1 (tag 5"));
    CHECK(contains(text, "rank 1 is silent"));
}

TEST_CASE("a payload that does not arrive over gloo delays no other deadline") {
    Processes processes;
    processes.start(2, [&](int rank, int port) {
        const auto group = join_group("gloo", rank, 2, port);
        const Tensor process = Tensor::full({1}, ::getpid(), DType::kInt64);
        const Tensor large = Tensor::zeros({16 << 20});
        if (rank == 1) {
            const WorkHandle work = group->send_async(large, 0, 1);
            group->send(process, 0, 2);  // after it, rank 0 has the envelope of the other
            ::raise(SIGSTOP);
            return;
        }
        group->recv(process, 1, 2);
        const std::string status =
            concat("/proc/", process.to_vector<int64_t>()[0], "/stat");
        while (!contains(mini::test::read_file(status), ") T ")) ::usleep(1000);
        const WorkHandle payload = group->recv_async(large, 1, 1);
        const WorkHandle other =
            group->start(recv_within(milliseconds(500), Tensor::zeros({1}), 1));
        other->wait();
    });
    const std::string text = processes.report(0);
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.5 s in recv from rank 1 (tag 0"));
}

TEST_CASE("destroying a group of gloo ends its running operations") {
    Processes processes;
    const Signal started;
    processes.start(2, [&](int rank, int port) {
        auto group = join_group("gloo", rank, 2, port);
        if (rank == 1) {
            started.await();
            set_default_group(nullptr);
            group.reset();
            return;
        }
        const WorkHandle work = group->all_reduce_async(Tensor::zeros({8}));
        set_default_group(nullptr);
        group.reset();
        started.give();
        work->wait();
    });
    const std::string text = processes.report(0);
    CAPTURE(text);
    CHECK(contains(text, "all_reduce #1"));
    CHECK(processes.report(1) == "");
}
