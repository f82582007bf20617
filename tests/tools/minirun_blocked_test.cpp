// minirun while no process reads its output.

#include <signal.h>
#include <unistd.h>

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
using mini::test::Screen;
using mini::test::script_args;
using mini::test::wait_until_gone;

namespace {

// Returns a script in which each rank prints its pid on stderr; then rank 0 floods
// stdout, and the others run `special` once the file `go` exists.
std::string flood_or(const Folder& folder, const std::string& special) {
    return "echo pid $RANK $$ . >&2; [ $RANK = 0 ] && exec yes; while [ ! -e " +
           folder.path() + "/go ]; do sleep 0.01; done; " + special;
}

void create(const std::string& path) {
    CHECK(mini::test::run_program({"touch", path}).code == 0);
}

// Counts the lines "`word` 1", "`word` 2", ... of `text`, in this order.
int count_in_order(const std::string& text, const std::string& word) {
    int count = 0;
    for (const std::string& line : lines(text))
        if (line == word + " " + std::to_string(count + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("a signal ends minirun while its output is not read") {
    const int signals = GENERATE(1, 2);
    const std::string grace = signals == 1 ? "0.1" : "1000";
    CAPTURE(signals);
    Job job({"-n", "1", "--grace", grace, "--", "yes"});
    job.wait_until_full();
    const pid_t rank = mini::test::ranks_of(job.pid()).at(0);
    job.send(SIGTERM);
    wait_until_gone(rank);
    if (signals == 2) job.send(SIGTERM);
    CHECK(job.wait_without_reading() == 128 + SIGTERM);
}

TEST_CASE("minirun reports lost output on stderr") {
    Job job({"-n", "1", "--grace", "0", "--", "yes"});
    job.wait_until_full();
    job.send(SIGINT);
    job.wait_for_stderr(
        "minirun: some output is lost, because its reader did not read it\n");
    job.wait_for_stderr("minirun: stopped by SIGINT\n");
    CHECK(job.wait_without_reading() == 128 + SIGINT);
}

TEST_CASE("a signal ends minirun while its terminal is not read") {
    Job job({"-n", "1", "--grace", "0.1", "--", "yes"}, Screen::kTerminal);
    job.wait_for("y");
    job.send(SIGTERM);
    CHECK(job.wait_without_reading() == 128 + SIGTERM);
}

TEST_CASE(
    "a rank's failure while the output is not read ends the job and no line is lost") {
    const std::string death = GENERATE("exit 7", "kill -9 $$");
    CAPTURE(death);
    const Folder folder;
    // The output of rank 1 fits into its pipe.
    Job job(script_args(3, flood_or(folder,
                                    "[ $RANK = 2 ] && exec sleep 1000; "
                                    "for i in $(seq 3000); do echo word $i; done; " +
                                        death)));
    for (const char* rank : {"pid 0 ", "pid 1 ", "pid 2 "}) job.wait_for(rank);
    job.wait_until_full();
    create(folder.path() + "/go");
    for (const char* rank : {"pid 1 ", "pid 0 ", "pid 2 "})
        wait_until_gone(number_after(job.err(), rank));

    // Start reading.
    CHECK(job.wait() == (death == "exit 7" ? 7 : 137));
    CHECK(contains(job.err(), "minirun: rank 1 (pid "));
    CHECK(count_in_order(job.out(), "[rank 1] word") == 3000);
}

TEST_CASE(
    "stderr is still copied while stdout is not read and the ranks' stdout pipes are "
    "full") {
    const Folder folder;
    const std::string written = folder.path() + "/written";
    Job job(script_args(
        2, "if [ $RANK = 0 ]; then head -c 8000000 /dev/zero | tr '\\0' '\\n'; : > " +
               written + "; else while [ ! -e " + folder.path() +
               "/go ]; do sleep 0.01; done; for i in $(seq 30); do echo word $i >&2; "
               "sleep 0.01; done; echo over >&2; fi"));
    job.wait_until_full();
    create(folder.path() + "/go");
    job.wait_for_stderr("over");
    CHECK(access(written.c_str(), F_OK) == -1);
    CHECK(job.wait() == 0);
    CHECK(count_in_order(job.err(), "[rank 1] word") == 30);
    CHECK(job.out() == std::string(8000000, '\n'));
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
