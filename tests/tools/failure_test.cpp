// The failure report of minirun, exit codes, and the environment of a rank.

#include "libmini/tools/minirun/failure.hpp"

#include <signal.h>

#include <string>

#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "tests/support/catch.hpp"

using mini::tools::End;
using mini::tools::Exit;
namespace dist = mini::dist;

namespace {

End ended(int rank, int code) { return {rank, 100 + rank, {false, code}, false}; }
End killed(int rank, int signal) { return {rank, 100 + rank, {true, signal}, false}; }
End stopped(int rank) { return {rank, 100 + rank, {true, SIGTERM}, true}; }

}  // namespace

TEST_CASE(
    "the failure report contains rank and pid and signal and stderr and later failures") {
    const std::vector<End> ends = {killed(1, SIGKILL), ended(0, 1), stopped(2)};
    const auto report = mini::tools::failure_report(
        ends[0], ends, {"here", {"it was in barrier #3"}, {"first", "second"}});
    REQUIRE(report.size() == 6);
    CHECK(report[0].find("rank 1 (pid 101) was killed by SIGKILL on here") == 0);
    CHECK(report[1] == "it was in barrier #3");
    CHECK(report[3] == "  | first");
    CHECK(report[4] == "  | second");
    CHECK(report[5] == "failed after it: rank 0 (exit code 1)");
    CHECK(mini::tools::failure_report(ends[2], ends, {"here", {}, {}})[0] ==
          "rank 2 (pid 102) kept the others waiting on here");
    CHECK(mini::tools::failure_report(ended(3, 0), ends, {"here", {}, {}})[0] ==
          "rank 3 (pid 103) returned early on here");
}

TEST_CASE("the exit code of a killed process is 128 + signal as in a shell") {
    CHECK(Exit{false, 3}.code() == 3);
    CHECK(Exit{true, SIGKILL}.code() == 137);
    CHECK(Exit{true, SIGSEGV}.text() == "SIGSEGV");
    CHECK(Exit{true, SIGRTMAX - 1}.text().find("signal ") == 0);
}

TEST_CASE("ranks are counted through all nodes and local ranks on each node") {
    dist::Job job;
    job.world_size = 6;
    job.nodes = 2;
    job.node_rank = 1;
    job.master_port = 4711;
    job.run_id = "3f2a";
    dist::Environment seen = dist::rank_environment({}, job, 1);
    for (const char* name : {"RANK", "ROLE_RANK"}) CHECK(seen[name] == "4");
    for (const char* name : {"WORLD_SIZE", "ROLE_WORLD_SIZE"}) CHECK(seen[name] == "6");
    CHECK(seen["LOCAL_RANK"] == "1");
    CHECK(seen["LOCAL_WORLD_SIZE"] == "3");
    CHECK(seen["GROUP_RANK"] == "1");
    CHECK(seen["GROUP_WORLD_SIZE"] == "2");
    CHECK(seen["MASTER_PORT"] == "4711");

    const auto read =
        dist::read_rank_variables([&](const std::string& name) { return seen[name]; });
    REQUIRE(read.has_value());
    CHECK(read->rank == 4);
    CHECK(read->world_size == 6);
    CHECK(read->local_rank == 1);
    CHECK(read->local_world_size == 3);
    CHECK(read->node_rank == 1);
    CHECK(read->job_id == "3f2a");
}

TEST_CASE("a rank's own variables win over the user's, and defaults lose") {
    dist::Job job;
    job.world_size = 4;
    const dist::Environment user = {{"RANK", "7"},
                                    {"HOME", "/home"},
                                    {"OMP_NUM_THREADS", ""},
                                    {"MINI_PROGRESS", "bar"}};
    dist::Environment seen = dist::rank_environment(user, job, 2);
    CHECK(seen["RANK"] == "2");
    CHECK(seen["HOME"] == "/home");
    CHECK(seen["OMP_NUM_THREADS"] == "");
    CHECK(seen["MINI_PROGRESS"] == "bar");
    CHECK(dist::rank_environment({}, job, 2)["OMP_NUM_THREADS"] == "1");
    job.nodes = 4;  // with one rank each
    CHECK_FALSE(dist::rank_environment({}, job, 0).contains("OMP_NUM_THREADS"));
}
