// Output of several ranks on one screen, by the built minirun.

#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/job.hpp"

using namespace mini::test;

namespace {

// Returns a script in which rank 0 runs `first`, and then all other ranks run `others`.
std::string rank_0_first(const Folder& folder, const std::string& first,
                         const std::string& others) {
    const std::string file = folder.path() + "/done";
    return "if [ $RANK = 0 ]; then " + first + "; : > " + file + "; else while [ ! -e " +
           file + " ]; do :; done; " + others + "; fi";
}

// Counts the lines "`word` 1", "`word` 2", ... of `text`, in this order.
int count_in_order(const std::string& text, const std::string& word) {
    int count = 0;
    for (const std::string& line : lines(text))
        if (line == word + " " + std::to_string(count + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("lines of other ranks are prefixed with their rank and keep their stream") {
    const ProcessResult job = run_script(3, "echo out $RANK; echo err $RANK >&2");
    std::vector<std::string> out = lines(job.out), err = lines(job.err);
    std::sort(out.begin(), out.end());
    std::sort(err.begin(), err.end());
    CHECK(out == std::vector<std::string>{"[rank 1] out 1", "[rank 2] out 2", "out 0"});
    CHECK(err == std::vector<std::string>{"[rank 1] err 1", "[rank 2] err 2", "err 0"});
}

TEST_CASE("lines are whole, and rank 0's output is unchanged byte for byte") {
    const Folder folder;
    const ProcessResult job = run_script(
        2, rank_0_first(
               folder, "printf '10 %%\\r20 %%\\n\\nrest of 0'",
               "printf load; sleep 0.05; printf 'ing\\n\\n10 %%\\r20 %%\\r\\nrest'"));
    CHECK(job.out ==
          "10 %\r20 %\n\n[rank 1] loading\n[rank 1] \n[rank 1] 20 %\nrest of 0\n"
          "[rank 1] rest\n");
}

TEST_CASE("a line of more than 1 MiB is written in pieces and loses no byte") {
    // When rank 0 has written more than a pipe holds beyond 1 MiB, minirun has read 1 MiB.
    const Folder folder;
    const int bytes = 1200000;
    const std::string line = "head -c 1200000 /dev/zero | tr '\\0' x";
    const ProcessResult job =
        run_script(2, rank_0_first(folder, line, "echo one; " + line + "; echo y"));
    const size_t piece = job.out.find_first_not_of('x');  // of rank 0's only line
    REQUIRE(piece != std::string::npos);
    CHECK(piece >= 1 << 20);
    const std::string one = "\n[rank 1] one\n[rank 1] ";
    CHECK(job.out.substr(piece, one.size()) == one);
    CHECK(std::count(job.out.begin(), job.out.end(), 'x') == 2 * bytes);
    CHECK(contains(job.out, "xy\n"));
}

TEST_CASE("on a terminal an unfinished bar gets a newline before another rank's line") {
    const Folder folder;
    Job job(script_args(2, rank_0_first(folder, "printf '\\r 10%%' >&2", "echo hello")),
            Screen::kTerminal);
    CHECK(job.wait() == 0);
    const std::string bar = "\r 10%\r\n\033[32m[rank 1]\033[0m hello\r\n";
    CHECK(contains(job.out(), "\r\n" + bar));  // after minirun's own first line
    CHECK(job.out().size() - job.out().find(bar) == bar.size());
}

TEST_CASE("on a terminal MINI_PROGRESS is bar and rank 0's bytes are shown immediately") {
    Job job(script_args(1, "printf $MINI_PROGRESS; exec sleep 1000"), Screen::kTerminal);
    job.wait_for("bar");
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("with closed stdin and stdout minirun still runs and copies only stderr") {
    const auto ended = run_in_shell(
        "minirun -n 2 sh -c 'echo out; echo err >&2; [ -d $MINI_FLIGHT_DIR ]' <&- >&-");
    CHECK(ended.code == 0);
    CHECK(ended.out.empty());
    std::vector<std::string> err = lines(ended.err);
    std::sort(err.begin(), err.end());
    CHECK(err == std::vector<std::string>{"[rank 1] err", "err"});
}

TEST_CASE("output that does not fit on the disk is reported and minirun fails") {
    const auto ended = run_in_shell("minirun -n 2 echo out > /dev/full");
    CHECK(ended.code == 1);
    CHECK(ended.err ==
          "minirun: a part of stdout is lost: write failed: No space left on device\n");
}

TEST_CASE("lines of stdout and stderr are not mixed in one pipe") {
    const auto ended = run_in_shell(
        "minirun -n 3 --no-prefix sh -c 'for i in $(seq 300); do echo out; echo err >&2; "
        "done' 2>&1");
    const std::vector<std::string> found = lines(ended.out);
    CHECK(std::count(found.begin(), found.end(), "out") == 900);
    CHECK(std::count(found.begin(), found.end(), "err") == 900);
    CHECK(found.size() == 1800);
}

TEST_CASE("a reader that pauses gets every line of every rank") {
    const int ranks = GENERATE(1, 2, 3, 7);
    CAPTURE(ranks);
    Job job(script_args(ranks, "for i in $(seq 20000); do echo word $RANK $i; done"));
    job.wait_until_full();
    CHECK(job.wait() == 0);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::string r = std::to_string(rank);
        CAPTURE(r);
        CHECK(count_in_order(job.out(), (rank == 0 ? "word " : "[rank " + r + "] word ") +
                                            r) == 20000);
    }
}

TEST_CASE("a rank's failure while the output is not read loses no line") {
    const std::string death = GENERATE("exit 7", "kill -9 $$");
    CAPTURE(death);
    Job job(script_args(
        2,
        "[ $RANK = 0 ] && exec yes $(printf %01000d 0); for i in $(seq 3000); "
        "do echo word $i; done; " +
            death));
    job.wait_until_full();
    CHECK(job.wait() == (death == "exit 7" ? 7 : 137));
    CHECK(contains(job.err(), "minirun: rank 1 (pid "));
    CHECK(count_in_order(job.out(), "[rank 1] word") == 3000);
}

TEST_CASE("a signal ends minirun and its ranks while its output is not read") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    CAPTURE(signal);
    mini::test::adopt_orphans();
    Job job({"-n", "2", "--", "yes"});
    job.wait_until_full();
    mini::test::wait_until_unblocked(job.pid(), SIGTERM);  // it waits for its reader
    job.send(signal);
    CHECK(job.wait_without_reading() == 128 + signal);
    mini::test::wait_for_all_orphans();
}
