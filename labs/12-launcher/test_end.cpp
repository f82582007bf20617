// The checks of lab 12, tasks 12.2 and 12.3: the lines of the ranks, and the end of the job.
// Named pipes put the steps of the scripts in order, so no case waits for a time to pass.

#include <signal.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "labs/12-launcher/test_launch.hpp"

using namespace mini;
using namespace mini::lab12;

namespace {

// Kills the processes that launch has left when a case ends.
struct KillsTheRest {
    ~KillsTheRest() {
        for (const Process& each : processes()) kill(each.pid, SIGKILL);
    }
};

// Returns "rank 1, exit code 3" or "rank 1, signal 9"; "no failure".
std::string in_words(const std::optional<End>& end) {
    if (!end) return "no failure";
    return concat("rank ", end->rank, end->by_signal ? ", signal " : ", exit code ",
                  end->number);
}

// Returns a script in which rank `rank` runs `one`, and the others `others`.
std::string split(int rank, const std::string& one, const std::string& others) {
    return concat("if [ $RANK = ", rank, " ]; then ", one, "; else ", others, "; fi");
}

// Makes `show` slower than a writer, so that its pipe is full again before it is empty.
void show_slowly() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

// Returns whether a process has ended, even if it is not reaped. Waits for up to 5 s.
bool ends(const std::string& pid) {
    for (int look = 0; look < 5000; ++look) {
        std::string id, name, state;
        std::ifstream("/proc/" + pid + "/stat") >> id >> name >> state;
        if (state.empty() || state == "Z" || state == "X") return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

}  // namespace

TEST_CASE("lines are whole, in order, and without their newline", "[lab12][lab12.2]") {
    const Launched run = launched(2, "echo one; echo; printf 'two\\nthr'; printf ee");
    for (const int rank : {0, 1})
        REQUIRE(run.lines.at(rank) == Lines{"one", "", "two", "three"});
}

TEST_CASE("a line is shown when it is complete, and not before", "[lab12][lab12.2]") {
    const Signals signals({"go", "shown"});
    Lines order;
    // Rank 0's line comes in two pieces; between them rank 1 prints a line.
    launched(
        2,
        split(0,
              "printf lo; " + signals.give("go") + signals.receive("shown") + "echo ss",
              signals.receive("go") + "echo between"),
        kLong, [&](int, const std::string& line) {
            order.push_back(line);
            if (line == "between") std::ofstream(signals.path("shown")) << "x\n";
        });
    INFO(
        "rank 0 wrote \"lo\", then rank 1 \"between\"; when that was shown, rank 0 "
        "\"ss\"");
    REQUIRE(order == Lines{"between", "loss"});
}

TEST_CASE("stderr is shown too", "[lab12][lab12.2]") {
    REQUIRE(launched(1, "echo bad >&2").lines.at(0) == Lines{"bad"});
}

TEST_CASE("long lines of many ranks are never mixed, and none is lost",
          "[lab12][lab12.2]") {
    constexpr int kRanks = 4, kLines = 50;
    const Launched run =
        launched(kRanks,
                 "half=$(head -c 40000 /dev/zero | tr '\\0' $RANK); i=0; "
                 "while [ $i -lt 50 ]; do printf %s $half; echo $half; i=$((i+1)); done");
    for (int rank = 0; rank < kRanks; ++rank) {
        const Lines& lines = run.lines.at(rank);
        INFO("rank " << rank << " wrote 50 lines of 80,000 times the digit " << rank);
        REQUIRE(lines.size() == kLines);
        for (const std::string& line : lines) {
            const bool is_whole =
                line == std::string(80'000, static_cast<char>('0' + rank));
            REQUIRE(is_whole);
        }
    }
}

TEST_CASE("what a rank has written when it ends is shown", "[lab12][lab12.2]") {
    const Launched run = launched(1, "head -c 60000 /dev/zero | tr '\\0' x");
    REQUIRE(run.lines.at(0).size() == 1);
    REQUIRE(run.lines.at(0)[0].size() == 60'000);
}

TEST_CASE("a process that a rank has left behind is not waited for", "[lab12][lab12.2]") {
    const Launched run = launched(1, "sleep 1000 & echo $!");
    INFO("the rank has ended; a process of its group has its output open, and is killed");
    REQUIRE(ends(run.lines.at(0).at(0)));
    REQUIRE(in_words(run.first) == "no failure");
}

TEST_CASE("a process outside the rank's group is neither waited for nor killed",
          "[lab12][lab12.2]") {
    const KillsTheRest rest;
    const Signals signals({"started"});
    const Launched run =
        launched(1,
                 "x=$(head -c 1000 /dev/zero | tr '\\0' x); export x; "
                 "setsid sh -c \"trap '' PIPE; echo \\$\\$; " +
                     signals.give("started") + "while :; do echo \\$x; done\" & " +
                     signals.receive("started"),
                 kLong, [](int, const std::string&) { show_slowly(); });
    INFO(
        "the rank has ended; a process that left its group by setsid writes to its "
        "output without end, so the output is never empty");
    const pid_t pid = std::stoi(run.lines.at(0).at(0));
    REQUIRE(kill(pid, 0) == 0);
    REQUIRE(in_words(run.first) == "no failure");
}

TEST_CASE("if show throws, nothing is left behind", "[lab12][lab12.2]") {
    struct ShowFails {};
    const KillsTheRest rest;
    const size_t before = open_files();
    LinesOfRanks started;
    INFO("each rank has started a process; then show throws");
    REQUIRE_THROWS_AS(launched(2, "sleep 1000 & echo $!; wait", kLong,
                               [&](int rank, const std::string& line) {
                                   started.lines[rank].push_back(line);
                                   if (started.lines.size() == 2) throw ShowFails();
                               }),
                      ShowFails);
    {
        INFO("a rank is left, running or as a zombie");
        REQUIRE_FALSE(has_children());
    }
    for (const int rank : {0, 1}) {
        INFO("the process that rank " << rank << " has started still runs");
        REQUIRE(ends(started.at(rank).at(0)));
    }
    INFO("open files of the launcher, after and before");
    REQUIRE(open_files() == before);
}

TEST_CASE("the others go on when a rank ends well", "[lab12][lab12.2]") {
    const Signals signals({"go"});
    bool is_shown = false;
    const Launched run =
        launched(2, split(0, "echo done", signals.receive("go") + "echo later"), kLong,
                 [&](int rank, const std::string&) {
                     if (rank == 0) std::ofstream(signals.path("go")) << "x\n";
                     is_shown = is_shown || rank == 1;
                 });
    REQUIRE(is_shown);
    REQUIRE(in_words(run.first) == "no failure");
}

TEST_CASE("the first failure is returned", "[lab12][lab12.3]") {
    const struct {
        const char* script;
        const char* first;
    } rows[] = {{"exit 3", "rank 1, exit code 3"},
                {"exit 255", "rank 1, exit code 255"},
                {"kill -9 $$", "rank 1, signal 9"},
                {"kill -TERM $$", "rank 1, signal 15"}};
    for (const auto& row : rows) {
        INFO("rank 1 runs: " << row.script << "; ranks 0 and 2 sleep");
        REQUIRE(in_words(launched(3, split(1, row.script, "exec sleep 1000")).first) ==
                row.first);
    }
    REQUIRE(launched(1, "printf 'last words'; kill -9 $$").lines.at(0) ==
            Lines{"last words"});
}

TEST_CASE("the other ranks are asked to end, and may finish", "[lab12][lab12.3]") {
    const Signals signals({"ready"});
    const Launched run = launched(
        2, split(1, signals.receive("ready") + "exit 3",
                 "trap 'head -c 100000 /dev/zero; echo; echo saved; exit 5' TERM; " +
                     signals.give("ready") + "sleep 1000 & wait"));
    INFO(
        "rank 1 fails; after SIGTERM rank 0 writes 100,000 bytes, more than a pipe "
        "holds, "
        "and \"saved\", and exits with 5");
    REQUIRE(run.lines.at(0).back() == "saved");
    REQUIRE(in_words(run.first) == "rank 1, exit code 3");
}

TEST_CASE("what a rank has started is asked to end, too", "[lab12][lab12.3]") {
    const Signals signals({"ready"});
    // Rank 0 is a shell that waits for a program, and goes on after SIGTERM.
    const Launched run =
        launched(2,
                 split(1, signals.receive("ready") + "exit 3",
                       "trap : TERM; sh -c \"trap 'echo saved; exit 0' TERM; " +
                           signals.give("ready") + "sleep 1000 & wait\"; echo waited"),
                 std::chrono::seconds(5));
    INFO("rank 1 fails; rank 0 waits for a program that saves its work after SIGTERM");
    INFO("if rank 0 shows nothing, SIGTERM reached rank 0 only, and not its group");
    REQUIRE(run.lines.at(0) == Lines{"saved", "waited"});
}

TEST_CASE("a rank that writes without end does not hide a failure", "[lab12][lab12.3]") {
    const Signals signals({"go"});
    bool is_told = false;
    INFO("rank 0 writes lines without end; after the first line rank 1 fails");
    INFO("if a launcher reads a pipe until it is empty, it never looks at rank 1");
    const std::optional<End> first =
        launch({.ranks = 2,
                .command = {"sh", "-c",
                            split(0, "exec yes $(head -c 1000 /dev/zero | tr '\\0' x)",
                                  signals.receive("go") + "exit 3")},
                .grace = kLong},
               [&](int, const std::string&) {
                   if (!is_told) std::ofstream(signals.path("go")) << "x\n";
                   is_told = true;
                   show_slowly();
               });
    REQUIRE(in_words(first) == "rank 1, exit code 3");
}

TEST_CASE("a rank that ignores SIGTERM is killed after the grace time",
          "[lab12][lab12.3]") {
    // Each rank fails after the rank before it was reaped, and 0.1 s.
    const Signals signals({"pid1", "pid2", "pid3", "pid4", "pid5"});
    const Launched run = launched(
        6,
        "trap '' TERM; [ $RANK = 5 ] || echo $$ > " + signals.path("pid$((RANK+1))") +
            "; [ $RANK = 0 ] && exit 3; " + signals.receive("pid$RANK") +
            "while kill -0 $x 2>&-; do sleep 0.01; done; sleep 0.1; echo late; exit 4",
        std::chrono::milliseconds(200));
    INFO("rank 0 fails; ranks 1 to 5 ignore SIGTERM, and fail one after the other");
    REQUIRE(in_words(run.first) == "rank 0, exit code 3");
    INFO("the grace time, 0.2 s, begins with the first failure, not with each one");
    REQUIRE(run.lines.lines.count(5) == 0);
}

TEST_CASE("the processes that a rank has started end with it", "[lab12][lab12.3]") {
    const Signals signals({"ready"});
    const Launched run = launched(
        2, split(1, "sleep 1000 & echo $!; " + signals.receive("ready") + "exit 3",
                 "sleep 1000 & echo $!; " + signals.give("ready") + "wait"));
    for (const int rank : {0, 1}) {
        INFO("rank " << rank << "'s process still runs: signals go to the whole group");
        REQUIRE(ends(run.lines.at(rank).at(0)));
    }
}

TEST_CASE("a rank that has closed its output is still waited for", "[lab12][lab12.3]") {
    const std::clock_t before = std::clock();
    const Launched run =
        launched(2, split(0, "exec >&- 2>&-; sleep 1; exit 4", "exec sleep 1000"));
    REQUIRE(in_words(run.first) == "rank 0, exit code 4");
    INFO("seconds of CPU time of the launcher, which has waited for 1 s");
    REQUIRE(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.5);
}
