// The checks of lab 12, task 12.5: how a job ends. The ranks are shell scripts. Named
// pipes put their steps in order. In some cases one rank plays the user, and signals
// minirun, whose process id is $PPID.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/12-launcher/test_support.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/rank_records.hpp"

using namespace mini;
using namespace mini::lab12;
using tools::Options;

namespace {

Options options_of(int ranks, std::chrono::milliseconds grace = kLong) {
    Options options;
    options.ranks = ranks;
    options.grace = grace;
    return options;
}

// Returns a script in which the last local rank runs `last`, and the others `others`.
std::string last_of(int ranks, const std::string& last, const std::string& others) {
    return "if [ $LOCAL_RANK = " + std::to_string(ranks - 1) + " ]; then " + last +
           "; else " + others + "; fi";
}

// Returns the user's script: it signals minirun when the other rank is ready.
std::string user_sends(const std::string& signal, const Signals& signals) {
    return signals.receive("ready") + "kill -" + signal + " $PPID; exec sleep 1000";
}

// Returns the script of a rank that fails without a message, for which minirun then waits.
std::string silent_failure(const Signals& signals) {
    return "echo $$ > " + signals.path("pid") + "; exit 3";
}

// Returns the user's script: it sends SIGINT after minirun has reaped the rank that failed.
std::string user_sends_while_gathering(const Signals& signals) {
    return signals.receive("pid") +
           "while kill -0 $x 2>&-; do :; done; kill -INT $PPID; exec sleep 1000";
}

// Both wait for a very long time. A trapped signal ends kWait; kWaitAlways waits again.
const char* const kWait = "sleep 1000 & wait";
const char* const kWaitAlways = "while :; do sleep 1000 & wait; done";

}  // namespace

TEST_CASE("the first failure stops the other ranks, which may clean up",
          "[lab12][lab12.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    std::vector<std::string> names;
    std::string all_ready;
    for (int rank = 0; rank + 1 < ranks; ++rank)
        names.push_back("ready" + std::to_string(rank));
    const Signals signals(names);
    for (const std::string& name : names) all_ready += signals.receive(name);
    const Run run =
        supervise(options_of(ranks), last_of(ranks, all_ready + "echo why >&2; exit 3",
                                             "trap 'echo tidy $RANK; exit 0' TERM; " +
                                                 signals.give("ready$RANK") + kWait));
    INFO("the last of " << ranks << " ranks fails with exit code 3; the others catch "
                        << "SIGTERM, and the grace time is long. stdout was\n"
                        << run.out << "stderr was\n"
                        << run.err);
    CHECK(run.outcome.code == 3);
    CHECK(run.outcome.may_be_restarted);
    for (int rank = 0; rank + 1 < ranks; ++rank)
        CHECK(contains(run.out, "tidy " + std::to_string(rank) + "\n"));
    const std::string last = std::to_string(ranks - 1);
    CHECK(contains("\n" + run.err, "\nminirun: rank " + last + " (pid "));
    CHECK(contains(run.err, "ended with exit code 3"));
}

TEST_CASE("a rank that ends well does not end the job", "[lab12][lab12.5]") {
    const Signals signals({"pid"});
    const Run run = supervise(options_of(2), "if [ $RANK = 0 ]; then echo $$ > " +
                                                 signals.path("pid") + "; exit 0; fi; " +
                                                 signals.receive("pid") +
                                                 "while kill -0 $x 2>&-; do :; done; "
                                                 "kill -TERM $PPID; exec sleep 1000");
    INFO(
        "rank 0 ends with exit code 0; rank 1 waits until it is reaped, and then the "
        "user stops the job, which must still be running: 128 + SIGTERM. stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 128 + SIGTERM);
}

TEST_CASE("all ranks that end well make a job that ends well", "[lab12][lab12.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const Run run = supervise(options_of(ranks), "echo $RANK of $WORLD_SIZE");
    CHECK(run.outcome.code == 0);
    CHECK_FALSE(run.outcome.may_be_restarted);
    CHECK(run.err == "");
    CHECK(lines_of(run.out).size() == static_cast<size_t>(ranks));
}

TEST_CASE("ranks that ignore SIGTERM are killed after the grace time",
          "[lab12][lab12.5]") {
    const Signals signals({"ready"});
    const Run run =
        supervise(options_of(2, std::chrono::milliseconds(10)),
                  last_of(2, signals.receive("ready") + "kill -SEGV $$",
                          "trap '' TERM; " + signals.give("ready") + "exec sleep 1000"));
    INFO(
        "rank 1 is killed by SIGSEGV; rank 0 ignores SIGTERM, so only SIGKILL ends it: "
        "end_phase(). stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 128 + SIGSEGV);
}

TEST_CASE("a cause that ends shortly after its victim is reported", "[lab12][lab12.5]") {
    static int64_t seen_at;
    seen_at = 0;
    dist::rank_records() = {
        .last_operation =
            [](const std::string&, const std::string&, int, int64_t at) {
                seen_at = at;
                return std::string();
            },
        .note_ends = [](const std::string&, const std::string&) { return false; }};
    const int64_t before = dist::Clock::now().time_since_epoch().count();
    const Signals signals({"pid"});
    Options options = options_of(3);
    options.flight_dir = "records";
    const Run run =
        supervise(options, "case $RANK in 0) " + silent_failure(signals) +
                               ";; 1) trap '' TERM; " + signals.receive("pid") +
                               "while kill -0 $x 2>&-; do :; done; kill -KILL $$;; "
                               "2) exec sleep 1000;; esac");
    dist::rank_records() = {};
    INFO(
        "rank 0 ends with exit code 3, and minirun gathers; then rank 1 is killed by "
        "SIGKILL. stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 128 + SIGKILL);
    CHECK(contains("\n" + run.err, "\nminirun: rank 1 (pid "));
    INFO("seen_at of rank 1's End, in nanoseconds of dist::Clock");
    CHECK(seen_at > before);
}

TEST_CASE("further failures do not make minirun gather longer", "[lab12][lab12.5]") {
    // Each rank fails after the rank before it was reaped, and 0.04 s. The 0.1 s of
    // gathering are over before the turn of rank 5, however slow the machine is.
    const Signals signals({"pid1", "pid2", "pid3", "pid4", "pid5"});
    const Run run = supervise(
        options_of(6),
        "trap 'echo asked $RANK; exit 0' TERM; [ $RANK = 5 ] || echo $$ > " +
            signals.path("pid$((RANK+1))") +
            "; [ $RANK = 0 ] && echo why >&2 && exit 3; " + signals.receive("pid$RANK") +
            "while kill -0 $x 2>&-; do :; done; sleep 0.04; exit 4");
    INFO(
        "rank 0 fails, then rank 1, and so on; rank 5 gets SIGTERM before its turn. "
        "stdout was\n"
        << run.out);
    CHECK(contains(run.out, "asked 5\n"));
}

TEST_CASE("the ranks that minirun has stopped are not reported as failed",
          "[lab12][lab12.5]") {
    const int grace = GENERATE(10, 100000);
    const std::string ignore = grace == 10 ? "trap '' TERM; " : "";
    const Signals signals({"ready"});
    const Run run =
        supervise(options_of(2, std::chrono::milliseconds(grace)),
                  last_of(2, signals.receive("ready") + "echo why >&2; exit 4",
                          ignore + signals.give("ready") + "exec sleep 1000"));
    INFO("rank 0 was ended by a signal of minirun, "
         << (grace == 10 ? "SIGKILL" : "SIGTERM")
         << ": that is no failure of its own; sent_by_us(). stderr was\n"
         << run.err);
    CHECK(contains("\n" + run.err, "\nminirun: rank 1 (pid "));
    CHECK_FALSE(contains(run.err, "failed after it"));
}

TEST_CASE("a rank that crashes while it is stopped is not the cause",
          "[lab12][lab12.5]") {
    const Signals signals({"ready0", "ready1"});
    const Run run = supervise(options_of(3, std::chrono::milliseconds(400)),
                              "case $RANK in "
                              "0) trap 'kill -SEGV $$' TERM; " +
                                  signals.give("ready0") + kWait +
                                  ";; "
                                  "1) trap '' TERM; " +
                                  signals.give("ready1") +
                                  "exec sleep 1000;; "
                                  "2) " +
                                  signals.receive("ready0") + signals.receive("ready1") +
                                  "echo why >&2; exit 3;; esac");
    INFO(
        "rank 2 fails; on SIGTERM rank 0 crashes, while rank 1 goes on until it is "
        "killed. Only the first failure of a running job begins to gather. stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 3);
    CHECK(contains("\n" + run.err, "\nminirun: rank 2 (pid "));
    CHECK(contains(run.err, "failed after it: rank 0 (SIGSEGV)"));
}

TEST_CASE("on the second node the ranks have the numbers of the whole job",
          "[lab12][lab12.5]") {
    Options options = options_of(2);
    options.nodes = 3;
    options.node_rank = 1;
    options.rdzv_id = "secret";
    const Run run = supervise(
        options, "[ $LOCAL_RANK = 0 ] && exec sleep 1000; echo why >&2; exit 5");
    INFO("node 1 of 3 has ranks 2 and 3; local rank 1 fails. stderr was\n" << run.err);
    CHECK(run.outcome.code == 5);
    CHECK(contains("\n" + run.err, "\nminirun: rank 3 (pid "));
}

TEST_CASE("the user's signal reaches every rank as it is", "[lab12][lab12.5]") {
    const std::string name = GENERATE("INT", "TERM", "HUP");
    const int number = name == "INT" ? SIGINT : name == "TERM" ? SIGTERM : SIGHUP;
    const int ranks = GENERATE(2, 4);
    std::vector<std::string> names;
    std::string all_ready;
    for (int rank = 0; rank + 1 < ranks; ++rank)
        names.push_back("ready" + std::to_string(rank));
    const Signals signals(names);
    for (const std::string& each : names) all_ready += signals.receive(each);
    const Run run =
        supervise(options_of(ranks),
                  last_of(ranks, all_ready + "kill -" + name + " $PPID; exec sleep 1000",
                          "trap 'echo saved $RANK; exit 0' " + name + "; " +
                              signals.give("ready$RANK") + kWait));
    INFO("minirun receives SIG" << name
                                << "; the ranks catch this signal only, so another "
                                   "one kills them before they save. stdout was\n"
                                << run.out << "stderr was\n"
                                << run.err);
    for (int rank = 0; rank + 1 < ranks; ++rank)
        CHECK(contains(run.out, "saved " + std::to_string(rank) + "\n"));
    CHECK(run.outcome.code == 128 + number);
    INFO("the user wanted it to end: no restart");
    CHECK_FALSE(run.outcome.may_be_restarted);
    CHECK(contains("\n" + run.err, "\nminirun: stopped by SIG" + name + "\n"));
}

TEST_CASE("a second signal kills the ranks at once", "[lab12][lab12.5]") {
    const Signals signals({"ready", "asked"});
    const Run run = supervise(
        options_of(2),
        last_of(2,
                "trap '' TERM; " + signals.receive("ready") + "kill -TERM $PPID; " +
                    signals.receive("asked") + "kill -TERM $PPID; exec sleep 1000",
                "trap '" + signals.give("asked") + "' TERM; " + signals.give("ready") +
                    kWaitAlways));
    INFO(
        "no rank ends by SIGTERM, and the grace time is long: the user sends SIGTERM "
        "again; hint 2 of 12.5 helps");
    CHECK(run.outcome.code == 128 + SIGTERM);
}

TEST_CASE("a user's signal after a failure does not hide the failure",
          "[lab12][lab12.5]") {
    const Signals signals({"ready"});
    const Run run = supervise(
        options_of(2),
        last_of(2, signals.receive("ready") + "echo why >&2; exit 3",
                "trap 'kill -INT $PPID' TERM; " + signals.give("ready") + kWaitAlways));
    INFO(
        "rank 1 fails; rank 0 is asked to end and goes on; the user presses Ctrl-C: it "
        "only kills rank 0, and the reason is still rank 1. stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 3);
    CHECK(contains("\n" + run.err, "\nminirun: rank 1 (pid "));
    CHECK_FALSE(contains(run.err, "stopped by"));
    CHECK_FALSE(run.outcome.may_be_restarted);
}

TEST_CASE("a user's signal while minirun gathers failures does not hide the failure",
          "[lab12][lab12.5]") {
    const Signals signals({"pid"});
    const Run run =
        supervise(options_of(2), "if [ $RANK = 0 ]; then " + silent_failure(signals) +
                                     "; fi; " + user_sends_while_gathering(signals));
    INFO(
        "rank 0 fails; minirun gathers further failures; then the user presses Ctrl-C: "
        "the reason for the end is still rank 0. stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 3);
    CHECK(contains("\n" + run.err, "\nminirun: rank 0 (pid "));
    CHECK_FALSE(contains(run.err, "stopped by"));
}

TEST_CASE("a rank that crashes after SIGINT is not the cause", "[lab12][lab12.5]") {
    const Signals signals({"pid", "ready"});
    const Run run = supervise(
        options_of(3, std::chrono::milliseconds(1000)),
        "case $RANK in 0) " + signals.receive("ready") + silent_failure(signals) +
            ";; 1) trap 'kill -SEGV $$' INT; " + signals.give("ready") + kWait +
            ";; 2) trap '' INT; " + user_sends_while_gathering(signals) + ";; esac");
    INFO(
        "rank 0 fails; while minirun gathers, the user presses Ctrl-C; rank 1 crashes "
        "after SIGINT; rank 2 ignores it and gets SIGTERM. Only the ranks that ended "
        "before SIGINT are suspects: gathered_. stderr was\n"
        << run.err);
    CHECK(run.outcome.code == 3);
    CHECK(contains("\n" + run.err, "\nminirun: rank 0 (pid "));
}

TEST_CASE("ranks that ignore SIGINT get SIGTERM before SIGKILL", "[lab12][lab12.5]") {
    const Signals signals({"ready"});
    const Run run = supervise(options_of(2, std::chrono::milliseconds(2000)),
                              last_of(2, user_sends("INT", signals),
                                      "trap '' INT; trap 'echo saved; exit 0' TERM; " +
                                          signals.give("ready") + kWait));
    INFO(
        "rank 0 ignores SIGINT and catches SIGTERM; after SIGINT and a grace time, "
        "minirun sends SIGTERM and waits for another. stderr was\n"
        << run.err);
    CHECK(run.out == "saved\n");
    CHECK(run.outcome.code == 128 + SIGINT);
}

TEST_CASE("ranks that ignore SIGINT and SIGTERM are killed", "[lab12][lab12.5]") {
    const Signals signals({"ready"});
    const Run run = supervise(
        options_of(2, std::chrono::milliseconds(10)),
        last_of(2, user_sends("INT", signals),
                "trap '' INT TERM; " + signals.give("ready") + "exec sleep 1000"));
    INFO("SIGINT, then SIGTERM, then SIGKILL; stop_signal_ remembers the last step");
    CHECK(run.outcome.code == 128 + SIGINT);
}

TEST_CASE("a closed pipe of minirun's own ends the ranks by SIGTERM",
          "[lab12][lab12.5]") {
    const Signals signals({"ready"});
    const Run run = supervise(options_of(2), last_of(2, user_sends("PIPE", signals),
                                                     "trap 'echo saved; exit 0' TERM; " +
                                                         signals.give("ready") + kWait));
    INFO(
        "SIGPIPE says that the reader of minirun's output has gone; it is not the "
        "ranks' affair: they get SIGTERM. The exit code is 128 + SIGPIPE");
    CHECK(run.out == "saved\n");
    CHECK(run.outcome.code == 128 + SIGPIPE);
}
