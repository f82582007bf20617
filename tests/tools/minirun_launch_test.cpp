// Restarts, logs and nodes.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/read_file.hpp"
#include "tests/tools/job.hpp"

using namespace mini::test;

namespace {

namespace fs = std::filesystem;

size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
}

const std::string kCookie = "00112233445566778899aabbccddeeff";

// The command line of a node of two, without the program; the other node does not run.
std::string node_of_two(const std::string& node, const std::string& rest) {
    return "minirun -n 1 --nnodes 2 --node-rank " + node +
           " --rdzv-endpoint 127.0.0.1:" + std::to_string(mini::test::free_port()) + " " +
           rest;
}

// Returns the only entry of a folder.
fs::path only_entry(const std::string& folder) {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(folder)) found = entry.path();
    return found;
}

}  // namespace

TEST_CASE(
    "training that was killed and restarted ends with bitwise identical parameters") {
    const Folder folder;
    const std::string train = MINI_BIN_DIR
                              "/train_mnist --data digits --steps 30 --save " +
                              folder.path() + "/";
    REQUIRE(run_script(2, "exec " + train + "undisturbed").code == 0);

    // In the first attempt, rank 1 kills its training program and itself; in the second
    // attempt, both ranks train.
    const ProcessResult job =
        run_script(2,
                   "[ $RANK.$TORCHELASTIC_RESTART_COUNT = 1.0 ] || exec " + train +
                       "restarted; " + train + "killed & kill -9 $!; kill -9 $$",
                   {"--max-restarts", "1"});
    CAPTURE(job.err);
    CHECK(job.code == 0);
    CHECK(count(job.err, "restarting all ranks") == 1);
    REQUIRE_FALSE(read_file(folder / "undisturbed").empty());
    CHECK(read_file(folder / "undisturbed") == read_file(folder / "restarted"));
}

TEST_CASE("each restart has its own number and run id, and the last exit code counts") {
    const ProcessResult job =
        run_script(1,
                   "echo $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_RUN_ID; "
                   "[ $TORCHELASTIC_RESTART_COUNT = 2 ] || exit 3",
                   {"--max-restarts", "4"});
    CHECK(job.code == 0);
    const std::vector<std::string> seen = lines(job.out);
    REQUIRE(seen.size() == 3);
    const std::string id = seen[0].substr(2);
    CHECK(seen ==
          std::vector<std::string>{"0 " + id, "1 " + id + ".1", "2 " + id + ".2"});
}

TEST_CASE("a job that fails after its last restart ends with the failure's exit code") {
    const ProcessResult job = run_script(2, "exit 5", {"--max_restarts=2"});
    CHECK(job.code == 5);
    CHECK(contains(job.err, "minirun: gave up after 2 restarts"));
    CHECK(count(job.err, "restarting all ranks") == 2);
}

TEST_CASE("a job is not restarted after a usage error or a signal from the user") {
    CHECK_FALSE(contains(
        run_script(1, "echo no >&2; exit 2", {"--max-restarts", "3"}).err, "restarting"));
    Job job(
        {"-n", "1", "--max-restarts", "3", "sh", "-c", "echo ready; exec sleep 1000"});
    job.wait_for("ready");
    job.send(SIGINT);
    CHECK(job.wait() == 128 + SIGINT);
    CHECK_FALSE(contains(job.err(), "restarting"));
}

TEST_CASE("minirun --log-dir logs every byte of every rank by attempt and local rank") {
    const Folder folder;
    const ProcessResult job = run_script(
        2, "printf 'out %s\\0' $RANK; echo err $RANK >&2", {"--log-dir", folder.path()});
    CHECK(job.code == 0);
    CHECK(contains(job.err, "err 1"));  // the screen shows the output too
    const fs::path run = only_entry(folder.path());
    for (const std::string rank : {"0", "1"}) {
        CHECK(read_file(run / "attempt_0" / rank / "stdout.log") ==
              "out " + rank + std::string(1, '\0'));
        CHECK(read_file(run / "attempt_0" / rank / "stderr.log") == "err " + rank + "\n");
    }
}

TEST_CASE("a log folder that cannot be written is a one-line error") {
    const ProcessResult job = run_script(2, "true", {"--log-dir", "/dev/null/logs"});
    CHECK(job.code == 1);
    CHECK(lines(job.err).size() == 1);
    CHECK(contains(job.err, "--log-dir"));
}

TEST_CASE("each attempt has its own logs, and the failure report names the rank's") {
    const Folder folder;
    const ProcessResult job = run_script(
        2, "[ $RANK = 0 ] && exec sleep 1000; echo $TORCHELASTIC_RESTART_COUNT; exit 3",
        {"--log_dir", folder.path(), "--max-restarts", "1"});
    CHECK(job.code == 3);
    CHECK(contains(job.err, "/attempt_0/1/stderr.log"));
    CHECK(contains(job.err, "/attempt_1/1/stderr.log"));
    const fs::path run = only_entry(folder.path());
    CHECK(read_file(run / "attempt_0" / "1" / "stdout.log") == "0\n");
    CHECK(read_file(run / "attempt_1" / "1" / "stdout.log") == "1\n");
}

TEST_CASE("a second user of the machine can run minirun and log") {
    if (geteuid() != 0) return;  // only root can become another user
    const Folder folder;
    fs::permissions(folder.path(), fs::perms::all | fs::perms::sticky_bit);
    fs::copy_file(MINI_BIN_DIR "/minirun", folder.path() + "/minirun");
    const auto run = [&](const std::string& as_user, const std::string& logs) {
        return run_in_shell("cd " + folder.path() + "; TMPDIR=$PWD " + as_user +
                            " ./minirun -n 1 --log-dir " + logs + " true");
    };
    CHECK(run("", "mine").code == 0);
    const ProcessResult job =
        run("setpriv --reuid=65534 --regid=65534 --clear-groups", "theirs");
    CAPTURE(job.err);
    CHECK(job.code == 0);
}

TEST_CASE("a log file that is a symbolic link is not followed") {
    const Folder folder;
    const std::string victim = folder.path() + "/victim";
    std::ofstream(victim) << "kept";
    const std::string minirun = "MINI_STORE_COOKIE=" + kCookie + " ";
    const std::string run =
        run_in_shell(minirun + node_of_two("0", "printenv TORCHELASTIC_RUN_ID"))
            .out.substr(0, 16);
    const fs::path rank = folder.path() + "/logs/" + run + "/attempt_0/0";
    fs::create_directories(rank);
    fs::create_symlink(victim, rank / "stdout.log");
    const ProcessResult refused = run_in_shell(
        minirun + node_of_two("1", "--log-dir " + folder.path() + "/logs true"));
    CHECK(refused.code == 1);
    CHECK(contains(refused.err, "stdout.log"));
    CHECK(read_file(victim) == "kept");
}

TEST_CASE("minirun starts although TMPDIR names no folder that can be written") {
    const Folder folder;
    const std::string file = folder.path() + "/file";
    std::ofstream{file};
    const std::string tmpdir =
        GENERATE_REF(as<std::string>{}, "", "/nonexistent/tmp", "/proc", file, ".");
    const ProcessResult job = run_in_shell(
        "TMPDIR=" + tmpdir + " minirun -n 2 sh -c '[ -d $MINI_FLIGHT_DIR ]'");
    CAPTURE(tmpdir, job.err);
    CHECK(job.code == 0);
    CHECK(job.err == "");
}

TEST_CASE("the cookie and run id of a job on several nodes depend only on --rdzv-id") {
    const auto secrets = [](const std::string& node, const std::string& id) {
        const auto answer = run_in_shell(node_of_two(
            node,
            "--rdzv-id " + id + " sh -c 'echo $MINI_STORE_COOKIE $TORCHELASTIC_RUN_ID'"));
        return lines(answer.out).at(0).substr(node == "0" ? 0 : 9);
    };
    CHECK(secrets("0", "job") == secrets("1", "job"));
    CHECK(secrets("0", "job") != secrets("0", "other"));
    CHECK(secrets("0", "job").size() == 32 + 1 + 16);
}

TEST_CASE("a short --rdzv-id is a warning of node 0") {
    const auto warns = [](const std::string& node, const std::string& cookie,
                          const std::string& id = "42") {
        const auto answer =
            run_in_shell(cookie + node_of_two(node, "--rdzv-id " + id + " true"));
        return contains(answer.err, "MINI_STORE_COOKIE=$(openssl rand -hex 16)");
    };
    CHECK(warns("0", ""));
    CHECK_FALSE(warns("1", ""));
    CHECK_FALSE(warns("0", "", "local-rank-test"));
    CHECK_FALSE(warns("0", "MINI_STORE_COOKIE=" + kCookie + " "));
}

TEST_CASE("unknown PET_ variables are named before the ranks start") {
    const auto answer = run_in_shell(
        "PET_NPROC_PER_NODE=2 PET_BOGUS=1 minirun sh -c 'echo rank $RANK of "
        "$WORLD_SIZE'");
    CHECK(contains(answer.out, "rank 1 of 2"));
    CHECK(answer.err ==
          "minirun: warning: minirun has no options for PET_BOGUS; ignored\n");
}

TEST_CASE("ranks of one host run although they advertise the address of a router") {
    const ProcessResult job = run_in_shell(
        "MINI_ADVERTISE_ADDR=192.0.2.7 minirun -n 2 train_mnist "
        "--data digits --steps 1 --timeout 20");
    CAPTURE(job.err);
    CHECK(job.code == 0);
}

TEST_CASE("on a terminal minirun reports that it sets OMP_NUM_THREADS to 1") {
    Job job({"-n", "2", "true"}, mini::test::Screen::kTerminal);
    CHECK(job.wait() == 0);
    CHECK(contains(job.out(), "OMP_NUM_THREADS=1"));
    Job alone({"-n", "1", "true"}, mini::test::Screen::kTerminal);
    CHECK(alone.wait() == 0);
    CHECK(alone.out().empty());
}
