// The failure report of minirun, exit codes, and the environment of a rank.

#include "libmini/tools/minirun/failure.hpp"

#include <signal.h>

#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "tests/support/catch.hpp"

using mini::tools::End;
using mini::tools::Exit;

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
}

TEST_CASE("the exit code of a killed process is 128 + signal as in a shell") {
    CHECK(Exit{false, 3}.code() == 3);
    CHECK(Exit{true, SIGKILL}.code() == 137);
    CHECK(Exit{true, SIGSEGV}.text() == "SIGSEGV");
    CHECK(Exit{true, SIGRTMAX - 1}.text().find("signal ") == 0);
}
