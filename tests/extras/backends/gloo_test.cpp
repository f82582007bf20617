// Backend "gloo" with one process per rank: results, and errors of messages. dist_faults
// kills and stops ranks, and lets them call other collectives.

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/distributed/conformance.hpp"
#include "tests/distributed/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/read_file.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Runs body(group, rank) on ranks that are processes. Returns the text of each rank's
// exception.
std::vector<std::string> over_gloo(int world_size,
                                   const std::function<void(ProcessGroup&, int)>& body,
                                   bool verify = true) {
    Processes processes;
    processes.start(world_size, [&](int rank, int port) {
        body(*join_group("gloo", rank, world_size, port, kLong, verify), rank);
    });
    std::vector<std::string> texts;
    for (int rank = 0; rank < world_size; ++rank) texts.push_back(processes.report(rank));
    return texts;
}

}  // namespace

TEST_CASE("gloo computes every operation on every dtype correctly") {
    const int world_size = GENERATE(1, 2, 3, 4);
    const bool verify = GENERATE(true, false);
    CAPTURE(world_size, verify);
    const auto check = [](ProcessGroup& group, int /*rank*/) {
        MINI_CHECK(group.backend() == "gloo", "backend ", group.backend());
        check_all_operations(group);
        destroy_process_group();
    };
    CHECK(over_gloo(world_size, check, verify) ==
          std::vector<std::string>(static_cast<size_t>(world_size)));
}

TEST_CASE("gloo supports ring and halving-doubling and rejects other algorithms") {
    const auto reduce = [](ProcessGroup& group, int rank) {
        for (const Algorithm algorithm :
             {Algorithm::kRing, Algorithm::kHalvingDoubling}) {
            const Tensor x = tensor_of(numbers_of(rank, 1001), DType::kFloat32);
            group.all_reduce(x, ReduceOp::kSum, algorithm);
            expect(x, reduced(3, 1001, ReduceOp::kSum), algorithm_name(algorithm));
        }
        group.all_reduce(Tensor::zeros({8}), ReduceOp::kSum, Algorithm::kTree);
    };
    for (const std::string& text : over_gloo(3, reduce))
        CHECK(contains(text, "gloo has no algorithm \"tree\"; it has ring and halving"));
}

TEST_CASE("monitored_barrier over gloo names the missing rank") {
    const auto miss = [](ProcessGroup& group, int /*rank*/) {
        miss_monitored_barrier(group, milliseconds(1000));
    };
    CHECK(contains(over_gloo(3, miss)[0],
                   "Timeout: monitored_barrier: rank 2 did not reach it"));
}

TEST_CASE("subgroups work over gloo") {
    const auto check = [](ProcessGroup& group, int /*rank*/) {
        check_subgroups(group);
        destroy_process_group();
    };
    CHECK(over_gloo(4, check) == std::vector<std::string>(4));
}

TEST_CASE(
    "a message of the wrong size over gloo throws on both ranks instead of aborting") {
    const auto exchange = [](ProcessGroup& group, int rank) {
        if (rank == 0) group.send(Tensor::zeros({9}), 1, 5);
        if (rank == 1) group.recv(Tensor::zeros({8}), 0, 5);
        group.barrier();
    };
    for (const std::string& text : over_gloo(2, exchange)) {
        CAPTURE(text);
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
    const Signal joined, started;
    processes.start(2, [&](int rank, int port) {
        auto group = join_group("gloo", rank, 2, port);
        if (rank == 1) {
            joined.give();
            started.await();
            set_default_group(nullptr);
            group.reset();
            return;
        }
        joined.await();  // rank 1 has left the barrier of init_process_group
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
