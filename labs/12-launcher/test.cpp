// The checks of lab 12, tasks 12.1 to 12.3: a launcher. The ranks are shell scripts; named
// pipes put their steps in order, so no case waits for a time to pass.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "labs/12-launcher/simple_launcher.hpp"
#include "labs/12-launcher/test_support.hpp"

using namespace mini;
using namespace mini::lab12;
using simple::End;

namespace {

using Lines = std::vector<std::string>;

// What a job did: the lines of each rank, and its result.
struct Launched {
    std::map<int, Lines> lines;
    std::optional<End> first;
};

// Runs a script as each rank. `on_line` is called for each line that is shown.
Launched launched(int ranks, const std::string& script,
                  std::chrono::milliseconds grace = kLong,
                  const simple::Show& on_line = {}) {
    Launched run;
    run.first =
        simple::launch({.ranks = ranks, .command = {"sh", "-c", script}, .grace = grace},
                       [&](int rank, const std::string& line) {
                           run.lines[rank].push_back(line);
                           if (on_line) on_line(rank, line);
                       });
    return run;
}

// Runs a script as each rank, and returns what each wrote. The output goes to a file for each
// rank, because 12.1 begins before a launcher shows a line.
std::map<int, Lines> written(int ranks, const std::string& script) {
    const Folder folder;
    launched(ranks, "exec > " + (folder / "$RANK") + " 2>&1; " + script);
    std::map<int, Lines> files;
    for (int rank = 0; rank < ranks; ++rank) {
        std::ifstream file(folder / std::to_string(rank));
        INFO("rank " << rank << " has run, and its RANK was " << rank);
        REQUIRE(file.is_open());
        for (std::string line; std::getline(file, line);) files[rank].push_back(line);
    }
    return files;
}

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

size_t open_files() {
    size_t count = 0;
    for ([[maybe_unused]] const auto& each :
         std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1; }

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

// Sets a variable of this process for its lifetime.
struct Variable {
    explicit Variable(const char* name, const char* value) : name_(name) {
        setenv(name, value, 1);
    }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

// While an object exists, this process's stdin is a pipe that holds `text`.
class StdinWith {
  public:
    explicit StdinWith(const std::string& text)
        : saved_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
        const Pipe pipe = new_pipe();
        REQUIRE(write(pipe.write.fd(), text.data(), text.size()) > 0);
        dup2(pipe.read.fd(), STDIN_FILENO);
    }
    ~StdinWith() { dup2(saved_.fd(), STDIN_FILENO); }
    StdinWith(const StdinWith&) = delete;
    StdinWith& operator=(const StdinWith&) = delete;

  private:
    Descriptor saved_;
};

}  // namespace

TEST_CASE("each rank is told its rank and the number of ranks", "[lab12][lab12.1]") {
    const int ranks = GENERATE(2, 1, 3);
    const auto lines =
        written(ranks, "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE");
    for (int rank = 0; rank < ranks; ++rank) {
        INFO("rank " << rank
                     << " printed RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE");
        REQUIRE(lines.at(rank) == Lines{concat(rank, " ", rank, " ", ranks, " ", ranks)});
    }
}

TEST_CASE("a rank's own variables win, and the caller's others stay",
          "[lab12][lab12.1]") {
    const Variable rank("RANK", "7"), other("RANKS", "many"), mine("LAB12_MINE", "a=b c");
    INFO("the caller has RANK=7, RANKS=many and LAB12_MINE=a=b c");
    REQUIRE(written(2, "echo $RANK $RANKS \"$LAB12_MINE\"").at(1) ==
            Lines{"1 many a=b c"});
    INFO("the caller's own variable after launch");
    REQUIRE(std::string(getenv("RANK")) == "7");
    INFO(
        "how often a rank's environment has RANK: a program may read the first or the "
        "last");
    REQUIRE(written(1, "tr '\\0' '\\n' < /proc/$$/environ | grep -c ^RANK=").at(0) ==
            Lines{"1"});
}

TEST_CASE("the program is looked up in PATH and gets its arguments", "[lab12][lab12.1]") {
    const Folder folder;
    const std::string script = "printf '%s\\n' \"$@\" > " + (folder / "words");
    simple::launch(
        {.ranks = 1, .command = {"sh", "-c", script, "sh", "two words", "", "$RANK"}},
        [](int, const std::string&) {});
    std::ifstream file(folder / "words");
    std::string all(std::istreambuf_iterator<char>(file), {});
    INFO(
        "the arguments: \"two words\", an empty one, and \"$RANK\", which stays as it "
        "is");
    REQUIRE(all == "two words\n\n$RANK\n");
}

TEST_CASE("a program that cannot be started is an error with its name and the reason",
          "[lab12][lab12.1]") {
    const size_t before = open_files();
    const std::string program = GENERATE("trian", "/etc/passwd");
    std::string error;
    try {
        simple::launch({.ranks = 3, .command = {program, "x"}},
                       [](int, const std::string&) {});
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& caught) {
        error = caught.what();
    }
    INFO("the error: " << error);
    REQUIRE(contains(error, program));
    REQUIRE(contains(error, program == "trian" ? "No such file" : "Permission denied"));
    INFO("a child process is left");
    REQUIRE_FALSE(has_children());
    INFO("open files of the launcher, after and before");
    REQUIRE(open_files() == before);
}

TEST_CASE("a rank has no blocked signal, although the launcher has", "[lab12][lab12.1]") {
    sigset_t blocked, old;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &old);
    const auto lines = written(1,
                               "while read -r name value; do "
                               "[ $name != SigBlk: ] || echo blocked: $value; "
                               "done < /proc/self/status");
    sigset_t now;
    sigprocmask(SIG_SETMASK, &old, &now);
    INFO("the set of blocked signals, in hexadecimal; SIGTERM is 4000");
    REQUIRE(lines.at(0) == Lines{"blocked: 0000000000000000"});
    INFO("the launcher's own mask must stay: is SIGTERM blocked in it?");
    REQUIRE(sigismember(&now, SIGTERM) == 1);
}

TEST_CASE("a rank leads a group, and its stdin is empty", "[lab12][lab12.1]") {
    const StdinWith text("for the launcher only\n");
    const auto lines =
        written(2,
                "read x && echo read: $x || echo end of stdin; "
                "set -- $(cat /proc/$$/stat); [ $5 = $$ ] && echo leads its group");
    INFO("the launcher's own stdin holds a line");
    for (const int rank : {0, 1})
        REQUIRE(lines.at(rank) == Lines{"end of stdin", "leads its group"});
}

TEST_CASE("a rank has no pipe of the launcher but its own", "[lab12][lab12.1]") {
    std::string inherited;  // pipes that this process was started with
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code closed;
        inherited += std::filesystem::read_symlink(each.path(), closed).string() + "\n";
    }
    // The scripts have replaced 1 and 2, the ends of their own pipe.
    for (const auto& [rank, lines] : written(3, "ls -l /proc/$$/fd"))
        for (const std::string& line : lines) {
            const size_t arrow = line.find(" -> pipe:");
            if (arrow == std::string::npos || contains(inherited, line.substr(arrow + 4)))
                continue;
            INFO("rank " << rank << " has an open pipe that is not its output");
            REQUIRE(line.substr(line.rfind(' ', arrow - 1) + 1) == "no such pipe");
        }
}

TEST_CASE("nothing is left behind", "[lab12][lab12.1]") {
    const size_t before = open_files();
    written(3, "true");
    INFO("a child process is left, or a zombie");
    REQUIRE_FALSE(has_children());
    INFO("open files of the launcher, after and before");
    REQUIRE(open_files() == before);
}

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
    const Launched run =
        launched(2, split(1, signals.receive("ready") + "exit 3",
                          "trap 'echo saved; exit 5' TERM; " + signals.give("ready") +
                              "sleep 1000 & wait"));
    INFO("rank 1 fails; rank 0 saves its work after SIGTERM, and exits with 5");
    REQUIRE(run.lines.at(0) == Lines{"saved"});
    REQUIRE(in_words(run.first) == "rank 1, exit code 3");
}

TEST_CASE("a rank that ignores SIGTERM is killed after the grace time",
          "[lab12][lab12.3]") {
    const Signals signals({"ready"});
    const Launched run = launched(
        2,
        split(1, signals.receive("ready") + "exit 3",
              "trap '' TERM; " + signals.give("ready") + "while :; do sleep 1000; done"),
        std::chrono::milliseconds(20));
    REQUIRE(in_words(run.first) == "rank 1, exit code 3");
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
    const Launched run =
        launched(2, split(0, "exec >&- 2>&-; sleep 0.1; exit 4", "exec sleep 1000"));
    REQUIRE(in_words(run.first) == "rank 0, exit code 4");
}
