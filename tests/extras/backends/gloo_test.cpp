// Backend "gloo": how libmini uses the library. dist_suite checks the results of every
// operation over it; dist_faults kills and stops ranks, and lets them call other collectives.

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <future>
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

// Runs body(group) on ranks that are threads. Returns the text of each rank's exception.
std::vector<std::string> over_gloo(int world_size,
                                   const std::function<void(ProcessGroup&)>& body,
                                   bool verify = true) {
    const int port = free_port();
    return texts_of(world_size, [&](int rank) {
        body(*join_group("gloo", rank, world_size, port, kLong, verify));
        destroy_process_group();
    });
}

}  // namespace

TEST_CASE("gloo works with and without the comparison of calls") {
    const bool verify = GENERATE(true, false);
    CAPTURE(verify);
    const auto check = [](ProcessGroup& group) {
        MINI_CHECK(group.backend() == "gloo", "backend ", group.backend());
        check_reductions(group, 7, DType::kBFloat16);
        check_moves(group, 7, DType::kInt64);
        check_messages_beside_collectives(group);
        group.all_reduce(Tensor::zeros({8}), ReduceOp::kSum, Algorithm::kTree);
    };
    for (const std::string& text : over_gloo(3, check, verify))
        CHECK(contains(text, "gloo chooses its algorithm itself"));
}

TEST_CASE("subgroups work over gloo") {
    CHECK(over_gloo(4, check_subgroups) == std::vector<std::string>(4));
}

// The ranks are processes, because rank 1 stops itself.
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
        Call other = recv_within(milliseconds(500), Tensor::zeros({8}), 1);
        other.tag = 5;
        group->start(other)->wait();
    });
    const std::string text = processes.report(0);
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.5 s in recv from rank 1 (tag 5"));
    CHECK(contains(text, "rank 1 is silent"));
}

TEST_CASE("destroying a group of gloo ends its running operations") {
    std::promise<void> joined, started;
    const int port = free_port();
    const auto texts = texts_of(2, [&](int rank) {
        auto group = join_group("gloo", rank, 2, port);
        WorkHandle work;
        if (rank == 1) {
            joined.set_value();
            started.get_future().wait();
        } else {
            joined.get_future().wait();  // rank 1 has left the barrier of the start
            work = group->all_reduce_async(Tensor::zeros({8}));
        }
        set_default_group(nullptr);
        group.reset();
        if (rank == 0) started.set_value();
        if (work) work->wait();
    });
    CHECK(contains(texts[0], "all_reduce #1"));
    CHECK(texts[1] == "");
}
