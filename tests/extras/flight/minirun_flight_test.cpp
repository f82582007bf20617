// The reports of minirun and mini flight about ranks of libmini that failed or hang.

#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/job.hpp"

using mini::test::contains;
using mini::test::Folder;
using mini::test::Job;
using mini::test::lines;
using mini::test::number_after;
using mini::test::run_program;

namespace {

const std::string kWorker = MINI_BIN_DIR "/flight_worker";

// Returns what `mini flight` prints for the dumps in `folder`.
std::string findings(const Folder& folder) {
    const auto answer = run_program({MINI_BIN_DIR "/mini", "flight", folder.path()});
    CAPTURE(answer.out, answer.err);
    REQUIRE(answer.code == 0);
    return answer.out;
}

}  // namespace

TEST_CASE("a rank that fails or is stopped is reported with its last operation") {
    const std::string manner = GENERATE("throw", "abort", "segv", "stop", "return");
    CAPTURE(manner);
    const Folder folder;
    Job job({"-n", "3", "--flight-dir", folder.path(), kWorker, manner});
    const int code = job.wait();
    CAPTURE(job.err());
    const bool stops = manner == "stop", returns = manner == "return";
    CHECK(code == (stops || returns ? 1 : 128 + (manner == "segv" ? SIGSEGV : SIGABRT)));
    CHECK(contains(job.err(), "minirun: rank 1 (pid "));
    CHECK(contains(job.err(), stops              ? ") kept the others waiting on "
                              : returns          ? ") returned early on "
                              : manner == "segv" ? "SIGSEGV"
                                                 : "SIGABRT"));
    CHECK(contains(job.err(), "its last operation was all_reduce #"));
    CHECK(contains(job.err(), "mini flight " + folder.path()));
    if (manner == "throw") CHECK(contains(job.err(), "rank 1 throws on purpose"));

    // The folder contains only the dumps of the three ranks, including the dead rank's.
    const std::vector<std::string> names = folder.names();
    REQUIRE(names.size() == 3);
    for (const std::string& name : names) CHECK(contains(name, ".dump"));
    const std::string sentences = findings(folder);
    CHECK(findings(folder) == sentences);  // the dead rank's clock has stopped
    CAPTURE(sentences);
    // "were": ranks 0 and 2 detected the loss of rank 1 before minirun ended them.
    const bool in_it =
        contains(sentences,
                 "(sum of 1000 float32): ranks 0 and 2 have been in it for ") ||
        contains(sentences, "(sum of 1000 float32): ranks 0 and 2 were in it for ");
    CHECK(in_it);
    CHECK(contains(sentences, "(its last finished call: all_reduce #"));
}

TEST_CASE("SIGUSR1 makes ranks log their dumps and mini flight names the missing rank") {
    const Folder folder;
    Job job({"-n", "3", "--flight-dir", folder.path(), kWorker, "skip"});
    job.wait_for("staying out");

    // Repeat until ranks 0 and 2 have started the operation.
    std::string sentences;
    const std::string awaited = "ranks 0 and 2 have been in it for ";
    for (int tries = 0; tries < 300 && !contains(sentences, awaited); ++tries) {
        for (const pid_t pid : mini::test::ranks_of(job.pid())) kill(pid, SIGUSR1);
        for (const char* rank : {"-rank0.dump", "-rank1.dump", "-rank2.dump"})
            job.wait_for(rank);
        sentences = findings(folder);
    }
    CHECK(contains(sentences, awaited));
    CHECK(contains(sentences, "rank 1 has not called it"));
    CHECK(contains(sentences, "(its last finished call: all_reduce #"));

    CHECK(contains(sentences, "  in it "));  // in the table
    CHECK(contains(sentences, "3 of 3 ranks left a dump"));
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("the private flight folder is removed after success and kept after a failure") {
    const Folder temporary;
    const std::string variable = "TMPDIR=" + temporary.path();
    const auto well =
        run_program({"env", variable, MINI_BIN_DIR "/minirun", "-n", "2", kWorker});
    CHECK(well.code == 0);
    CHECK(temporary.names().empty());

    const auto failed = run_program(
        {"env", variable, MINI_BIN_DIR "/minirun", "-n", "2", kWorker, "segv"});
    REQUIRE(temporary.names().size() == 1);  // kept, because a rank failed
    CHECK(contains(failed.err, "mini flight " + temporary.path() + "/minirun-flight-"));
}

TEST_CASE("the private flight folder is removed even if minirun is killed with kill -9") {
    const Folder temporary;
    mini::test::adopt_orphans();
    Job job({"env", "TMPDIR=" + temporary.path(), MINI_BIN_DIR "/minirun", "-n", "2",
             kWorker, "skip"},
            mini::test::Screen::kPipes, mini::test::Program::kItself);
    job.wait_for("staying out");
    REQUIRE(temporary.names().size() == 1);
    job.send(SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    mini::test::wait_for_all_orphans();
    CHECK(temporary.names().empty());
}

TEST_CASE("two nodes of two ranks on one host make one job") {
    const std::string port = std::to_string(mini::test::free_port());
    const Folder flights;
    const std::vector<std::string> shared = {"-n",
                                             "2",
                                             "--nnodes",
                                             "2:2",
                                             "--rdzv-endpoint",
                                             "127.0.0.1:" + port,
                                             "--flight-dir",
                                             flights.path(),
                                             "--rdzv_id",
                                             "a secret"};
    const auto node = [&](const std::string& rank, const std::string& manner) {
        std::vector<std::string> args = shared;
        for (const std::string& word :
             {std::string("--node_rank"), rank, kWorker, manner})
            args.push_back(word);
        return args;
    };
    SECTION("that succeeds") {
        Job first(node("0", "")), second(node("1", ""));
        CHECK(first.wait() == 0);
        CHECK(second.wait() == 0);
        CHECK(contains(first.out(), "[rank 1] done"));
        CHECK(contains(second.out(), "[rank 2] done"));
        CHECK(contains(second.out(), "[rank 3] done"));
    }
    SECTION("that ends on both nodes if a rank of one node fails") {
        Job first(node("0", "segv")), second(node("1", "segv"));
        CHECK(first.wait() == 128 + SIGSEGV);
        CHECK(second.wait() == 1);
        CAPTURE(second.err());
        // The first node's minirun also ends rank 0; node 1 may detect this loss first.
        const bool names_it = contains(second.err(), "rank 1 is gone") ||
                              contains(second.err(), "rank 0 is gone");
        CHECK(names_it);
        CHECK(contains(second.err(), "this is node 1 of 2"));
    }
}
