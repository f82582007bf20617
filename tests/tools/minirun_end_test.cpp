// How a job ends: successfully, after a rank's failure, after a signal from the user, or
// after minirun was killed.

#include <fstream>
#include <string>
#include <vector>

#include <signal.h>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/job.hpp"

using namespace mini::test;

namespace {

// Returns a script in which rank `rank` runs `special`, and the others sleep for a long
// time.
std::string only(int rank, const std::string& special) {
    return "if [ $RANK = " + std::to_string(rank) + " ]; then " + special +
           "; else exec sleep 1000; fi";
}

// Returns a script that waits until the file exists.
std::string until(const std::string& file) {
    return "while [ ! -e " + file + " ]; do sleep 0.01; done; ";
}

const char* const kSayPidAndSleep = "echo pid $RANK $$ .; exec sleep 1000";

}  // namespace

TEST_CASE("a rank's failure ends the job and the rank's exit code becomes the job's") {
    const int ranks = GENERATE(1, 2, 3, 7);
    CAPTURE(ranks);
    const ProcessResult job = run_script(ranks, only(ranks - 1, "echo why >&2; exit 3"));
    CHECK(job.code == 3);
    const std::string rank = std::to_string(ranks - 1);
    CHECK(contains(job.err, "minirun: rank " + rank + " (pid "));
    CHECK(contains(job.err, ") ended with exit code 3"));
    CHECK(contains(job.err, "why\n"));
    CHECK_FALSE(contains(job.err, "  | why\n"));  // "why" is on the screen just above
}

TEST_CASE(
    "the failed rank's last 20 lines of stderr are quoted if other ranks have written to "
    "stderr since") {
    // Rank 0 runs until minirun stops it after the end of rank 1, and then writes to
    // stderr.
    const Folder folder;
    const std::string ready = folder.path() + "/ready";
    const ProcessResult job =
        run_script(2,
                   "if [ $RANK = 1 ]; then " + until(ready) +
                       "for i in $(seq 30); do echo line $i >&2; done; exit 3; fi; "
                       "trap 'echo good bye >&2; exit 0' TERM; : > " +
                       ready + "; while :; do sleep 0.01; done",
                   {"--grace", "60"});
    CHECK(job.code == 3);
    CHECK(contains(job.err, "good bye\n"));
    CHECK(
        contains(job.err, "minirun: its last lines on stderr:\nminirun:   | line 11\n"));
    CHECK(contains(job.err, "  | line 30\n"));
}

TEST_CASE("minirun adds nothing to a program's own message about a usage error") {
    const ProcessResult job =
        run_script(3, "[ $RANK = 0 ] && echo no such option >&2; exit 2");
    CHECK(job.code == 2);
    CHECK(job.err == "no such option\n");
    CHECK(contains(run_script(1, "exit 2").err, "ended with exit code 2"));
}

TEST_CASE("the rank that prints the usage error may be the last to fail") {
    // Rank 0 writes its message 0.4 s after the end of rank 1: minirun gathers failures
    // for 0.1 s, but waits longer while no rank has written an error message.
    const Folder folder;
    const std::string file = folder.path() + "/pid";
    const ProcessResult job = run_script(
        2, "if [ $RANK = 1 ]; then echo $$ > " + file + ".new; mv " + file + ".new " +
               file + "; exit 2; fi; " + until(file) + "read pid < " + file +
               "; while kill -0 $pid 2>&-; do :; done; sleep 0.4; "
               "echo no such option >&2; exit 2");
    CHECK(job.code == 2);
    CHECK(job.err == "no such option\n");
}

TEST_CASE("the report of a killed rank contains its signal") {
    const std::string signal = GENERATE("KILL", "SEGV", "TERM");
    const ProcessResult job = run_script(3, only(1, "kill -" + signal + " $$"));
    CHECK(contains(job.err, "rank 1 (pid "));
    CHECK(contains(job.err, "was killed by SIG" + signal));
    CHECK(job.code == (signal == "KILL" ? 137 : signal == "SEGV" ? 139 : 143));
}

TEST_CASE("a process that a rank leaves behind ends with the rank and not with the job") {
    const Folder folder;
    const std::string file = folder.path() + "/pid";
    const ProcessResult job = run_script(
        2, "if [ $RANK = 0 ]; then sleep 1000 & echo $! > " + file + ".new; mv " + file +
               ".new " + file + "; exit 0; fi; " + until(file) + "read pid < " + file +
               "; for i in $(seq 500); do grep -q '^State:.[^ZX]' /proc/$pid/status 2>&- "
               "|| { echo ended; exit 0; }; sleep 0.01; done");
    CHECK(job.code == 0);
    CHECK(job.out == "[rank 1] ended\n");
}

TEST_CASE("nohup minirun ignores SIGHUP") {
    std::vector<std::string> command = {"nohup", MINI_BIN_DIR "/minirun"};
    for (const std::string& arg : script_args(1, "echo ready; exec sleep 1000"))
        command.push_back(arg);
    Job job(command, mini::test::Screen::kPipes, mini::test::Program::kItself);
    job.wait_for("ready");
    job.send(SIGHUP);
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("SIGUSR1 and SIGUSR2 are passed on to the ranks of a nested minirun too") {
    const int signal = GENERATE(SIGUSR1, SIGUSR2);
    const std::string nested = GENERATE("", MINI_BIN_DIR "/minirun -n 2 --no-prefix ");
    CAPTURE(signal, nested);
    Job job(script_args(
        1, "exec " + nested +
               "sh -c 'trap \"echo saved $RANK; exit 0\" USR1 USR2; echo ready $RANK; "
               "while :; do sleep 0.01; done'"));
    const int ranks = nested.empty() ? 1 : 2;
    for (int rank = 0; rank < ranks; ++rank)
        job.wait_for("ready " + std::to_string(rank));
    job.send(signal);
    CHECK(job.wait() == 0);
    for (int rank = 0; rank < ranks; ++rank)
        CHECK(contains(job.out(), "saved " + std::to_string(rank)));
}

TEST_CASE("SIGUSR1 reaches each process of a rank that handles it and kills no other") {
    const Folder folder;
    const std::string file = folder.path() + "/go";
    // This shell starts no process: between fork and exec, a child still has the handler.
    const std::string saves = "trap \"echo saved $RANK; : > " + file +
                              "\" USR1; echo ready $RANK; while [ ! -e " + file +
                              " ]; do :; done";
    Job job(script_args(3, "case $RANK in 0) echo ready 0; " + until(file) +
                               ";; 1) sh -c '" + saves + "'; echo wrapper goes on;; 2) " +
                               "trap '' USR1; sh -c 'echo ready 2; " + until(file) +
                               "';; esac"));
    for (const char* ready : {"ready 0", "ready 1", "ready 2"}) job.wait_for(ready);
    job.send(SIGUSR1);
    CHECK(job.wait() == 0);
    CHECK(contains(job.out(), "saved 1"));
    CHECK(contains(job.out(), "wrapper goes on"));
    CHECK(job.err() == "");
}

TEST_CASE("if no rank handles SIGUSR2 minirun says so and the job goes on") {
    Job job(script_args(2, kSayPidAndSleep));
    for (const char* rank : {"pid 0 ", "pid 1 "}) job.wait_for(rank);
    job.send(SIGUSR2);
    job.wait_for("minirun: ignored SIGUSR2: no rank handles it");
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("a signal that would kill minirun lets the ranks clean up") {
    const int signal =
        GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
                 SIGIO, SIGPWR, SIGSTKFLT, SIGRTMIN, SIGRTMAX);
    CAPTURE(signal);
    Job job(
        script_args(2,
                    "trap 'echo tidy $RANK; exit 0' INT TERM HUP QUIT; echo ready $RANK; "
                    "while :; do sleep 0.01; done",
                    {"--grace", "60"}));
    for (const char* ready : {"ready 0", "ready 1"}) job.wait_for(ready);
    job.send(signal);
    CHECK(job.wait() == 128 + signal);
    CHECK(contains(job.out(), "tidy 0"));
    CHECK(contains(job.out(), "tidy 1"));
    CHECK(contains(job.err(), "minirun: stopped by "));
}

TEST_CASE("SIGTSTP stops minirun and all ranks until SIGCONT") {
    const std::string nested = GENERATE("", MINI_BIN_DIR "/minirun -n 2 --no-prefix ");
    CAPTURE(nested);
    Job job(script_args(
        1, "echo pid outer $$ .; exec " + nested + "sh -c '" + kSayPidAndSleep + "'"));
    std::vector<std::string> names = {"pid outer ", "pid 0 "};
    if (!nested.empty()) names.emplace_back("pid 1 ");
    std::vector<pid_t> processes = {job.pid()};
    for (const std::string& name : names) {
        job.wait_for(name);
        processes.push_back(number_after(job.out(), name));
    }
    job.send(SIGTSTP);
    for (const pid_t process : processes) mini::test::wait_until_stopped(process);
    job.send(SIGCONT);
    for (const pid_t process : processes) mini::test::wait_until_continued(process);
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("SIGWINCH, SIGURG, SIGXFSZ and SIGCONT do not disturb the job") {
    const int signal = GENERATE(SIGWINCH, SIGURG, SIGXFSZ, SIGCONT);
    CAPTURE(signal);
    const Folder folder;
    const std::string file = folder.path() + "/go";
    Job job(script_args(2, "echo ready $RANK; " + until(file) + "echo done $RANK"));
    for (const char* ready : {"ready 0", "ready 1"}) job.wait_for(ready);
    job.send(signal);
    std::ofstream{file};
    CHECK(job.wait() == 0);
    CHECK(contains(job.out(), "done 0"));
    CHECK(contains(job.out(), "done 1"));
}

TEST_CASE("kill -9 of minirun leaves no process that a rank has started") {
    adopt_orphans();
    const Folder folder;
    const bool own_folder = GENERATE(true, false);  // whether --flight-dir is given
    std::vector<std::string> options;
    if (own_folder) options = {"--flight-dir", folder.path()};

    // The rank waits for a child, which waits for its own child.
    Job job(script_args(2,
                        "sh -c 'sleep 1000 & echo pid $RANK.1 $! .; echo pid $RANK.0 $$ "
                        ".; wait'; true",
                        options));
    for (const char* rank : {"pid 0.0 ", "pid 1.0 "}) job.wait_for(rank);
    job.send(SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);

    // Each process is reaped by its dying parent or by this process.
    mini::test::wait_for_all_orphans();
    for (const char* process : {"pid 0.0 ", "pid 0.1 ", "pid 1.0 ", "pid 1.1 "}) {
        CAPTURE(process);
        CHECK(kill(number_after(job.out(), process), 0) == -1);
    }
}

TEST_CASE("kill -9 of minirun at any time leaves no process") {
    // One rank has written "here"; the others may be anywhere between fork and exec.
    const std::string sleep = GENERATE("exec sleep 1000", "sleep 1000; true");
    adopt_orphans();
    for (int tries = 0; tries < 50; ++tries) {
        Job job({"-n", "4", "sh", "-c", "echo here; " + sleep});
        job.wait_for("here");
        const std::vector<pid_t> ranks = mini::test::children_of(job.pid());
        job.send(SIGKILL);
        job.wait();
        mini::test::wait_for_all_orphans();
        for (const pid_t rank : ranks) REQUIRE(kill(rank, 0) == -1);
    }
}

TEST_CASE("a reader that closes minirun's stdout ends the job") {
    const ProcessResult job = mini::test::run_in_shell(
        "minirun -n 2 sh -c 'while :; do echo y; done' | head -n 1; echo over");
    CHECK(job.code == 0);
    CHECK(contains(job.out, "over\n"));
    CHECK(contains(job.err, "stopped by SIGPIPE"));
}
