// The checks of lab 12, tasks 12.1 to 12.3: a launcher. The ranks are shell scripts; named
// pipes put their steps in order, so no case waits for a time to pass.

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
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

// The lines of each rank that showed or wrote a line.
struct LinesOfRanks {
    std::map<int, Lines> lines;

    const Lines& at(int rank) const {
        const auto found = lines.find(rank);
        if (found == lines.end()) FAIL("rank " << rank << " showed no line");
        return found->second;
    }
};

// What a job did: the lines of each rank, and its result.
struct Launched {
    LinesOfRanks lines;
    std::optional<End> first;
};

// Sets a variable of this process for its lifetime.
struct Variable {
    Variable(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

// A process that launch has started, or that such a process has started.
struct Process {
    pid_t pid;
    std::string in_words;  // "rank 1's sleep runs"
};

constexpr const char* kMark = "LAB12_LAUNCH";  // in the environment of such a process

// Returns the part of `text` from the end of `key` to the next `stop`; "" without the key.
std::string value_of(const std::string& text, const std::string& key, char stop) {
    const size_t at = text.find(key);
    if (at == std::string::npos) return "";
    const size_t begin = at + key.size();
    return text.substr(begin, text.find(stop, begin) - begin);
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns the children of this process, and the processes with its mark.
std::vector<Process> processes() {
    const std::string own = std::to_string(getpid());
    std::vector<Process> found;
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator("/proc", ignored)) {
        const pid_t pid = std::atoi(each.path().filename().c_str());
        if (pid <= 0 || pid == getpid()) continue;
        const std::string status = text_of(each.path() / "status");
        const std::string variables = '\0' + text_of(each.path() / "environ");
        const bool is_marked = value_of(variables, concat('\0', kMark, "="), '\0') == own;
        if (value_of(status, "PPid:\t", '\n') != own && !is_marked) continue;
        const std::string rank = value_of(variables, concat('\0', "RANK="), '\0');
        const bool is_zombie = value_of(status, "State:\t", ' ') == "Z";
        const std::string blocked = value_of(status, "SigBlk:\t", '\n');
        const bool blocks_term =
            (std::strtoull(blocked.c_str(), nullptr, 16) >> (SIGTERM - 1)) % 2 == 1;
        found.push_back(
            {pid, concat(rank.empty() ? "" : "rank " + rank + "'s ",
                         value_of(status, "Name:\t", '\n'),
                         is_zombie     ? " has ended, and was not reaped"
                         : blocks_term ? " runs with SIGTERM blocked (see 12.1)"
                                       : " runs")});
    }
    return found;
}

// Kills the processes that launch has left when a case ends.
struct KillsTheRest {
    ~KillsTheRest() {
        for (const Process& each : processes()) kill(each.pid, SIGKILL);
    }
};

// Kills all processes of a launch that has not returned after 30 s, so that the case can say
// what launch waited for. Its thread takes no signal, as the launcher may wait for SIGCHLD.
class Watchdog {
  public:
    Watchdog() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_ = std::thread([this] { watch(); });
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    ~Watchdog() { stop(); }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    // Returns what was killed; "" if launch returned in time.
    std::string stop() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        over_.notify_one();
        if (thread_.joinable()) thread_.join();
        return killed_;
    }

  private:
    void watch() {
        std::unique_lock lock(mutex_);
        if (over_.wait_for(lock, std::chrono::seconds(30), [this] { return is_over_; }))
            return;
        const std::vector<Process> left = processes();
        killed_ = left.empty() ? "no process" : "";
        for (const Process& each : left) {
            killed_ += (killed_.empty() ? "" : ", ") + each.in_words;
            kill(each.pid, SIGKILL);
        }
    }

    std::mutex mutex_;
    std::condition_variable over_;
    bool is_over_ = false;
    std::string killed_;
    std::thread thread_;
};

// Calls simple::launch under a watchdog.
std::optional<End> launch(const simple::Options& options, const simple::Show& show) {
    const Variable mark(kMark, std::to_string(getpid()));
    Watchdog watchdog;
    std::optional<End> first;
    std::exception_ptr error;
    try {
        first = simple::launch(options, show);
    } catch (...) {
        error = std::current_exception();
    }
    const std::string killed = watchdog.stop();
    if (!killed.empty())
        FAIL("launch did not return within 30 s; these were left: " << killed);
    if (error) std::rethrow_exception(error);
    return first;
}

// Runs a script as each rank. `on_line` is called for each line that is shown.
Launched launched(int ranks, const std::string& script,
                  std::chrono::milliseconds grace = kLong,
                  const simple::Show& on_line = {}) {
    Launched run;
    run.first = launch({.ranks = ranks, .command = {"sh", "-c", script}, .grace = grace},
                       [&](int rank, const std::string& line) {
                           run.lines.lines[rank].push_back(line);
                           if (on_line) on_line(rank, line);
                       });
    return run;
}

// Runs a script as each rank, and returns what each wrote. The output goes to a file for each
// rank, because 12.1 begins before a launcher shows a line.
LinesOfRanks written(int ranks, const std::string& script) {
    const Folder folder;
    launched(ranks, "exec > " + (folder / "$RANK") + " 2>&1; " + script);
    LinesOfRanks files;
    for (int rank = 0; rank < ranks; ++rank) {
        std::ifstream file(folder / std::to_string(rank));
        INFO("rank " << rank << " has run, and its RANK was " << rank);
        REQUIRE(file.is_open());
        for (std::string line; std::getline(file, line);)
            files.lines[rank].push_back(line);
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

// Returns "SIGCHLD: blocked", "SIGPIPE: ignored" or "SIGTERM: handled" for each signal of this
// thread that is not in its first state.
Lines changed_signals() {
    Lines changed;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) != 0) continue;
        const char* name = sigabbrev_np(number);
        const std::string signal =
            name == nullptr ? concat("signal ", number) : concat("SIG", name);
        if (sigismember(&blocked, number) == 1) changed.push_back(signal + ": blocked");
        if (action.sa_handler == SIG_DFL) continue;
        changed.push_back(signal +
                          (action.sa_handler == SIG_IGN ? ": ignored" : ": handled"));
    }
    return changed;
}

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
    launch({.ranks = 1, .command = {"sh", "-c", script, "sh", "two words", "", "$RANK"}},
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
        launch({.ranks = 3, .command = {program, "x"}}, [](int, const std::string&) {});
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

TEST_CASE("a rank ignores the signals that the caller ignores, and no others",
          "[lab12][lab12.1]") {
    const auto before = ::signal(SIGUSR1, SIG_IGN);
    const std::string own = value_of(text_of("/proc/self/status"), "SigIgn:\t", '\n');
    const auto lines = written(1,
                               "while read -r name value; do "
                               "[ $name != SigIgn: ] || echo ignored: $value; "
                               "done < /proc/self/status");
    ::signal(SIGUSR1, before);
    INFO("the ignored signals, in hexadecimal; SIGUSR1 is 200, SIGPIPE 1000");
    REQUIRE(lines.at(0) == Lines{"ignored: " + own});
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
    for (const auto& [rank, lines] : written(3, "ls -l /proc/$$/fd").lines)
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

TEST_CASE("the caller's signals are as before", "[lab12][lab12.1]") {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);  // an earlier case may have left others
    const Lines before = changed_signals();
    written(2, "true");
    INFO("the caller's signals that are blocked, ignored or handled, after and before");
    REQUIRE(changed_signals() == before);
    try {
        launch({.ranks = 1, .command = {"trian"}}, [](int, const std::string&) {});
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error&) {
        INFO("launch has thrown an error");
        REQUIRE(changed_signals() == before);
    }
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

TEST_CASE("a process outside the rank's group is neither waited for nor killed",
          "[lab12][lab12.2]") {
    const KillsTheRest rest;
    const Signals signals({"started"});
    const Launched run =
        launched(1, "setsid sh -c 'echo $$; " + signals.give("started") +
                        "exec sleep 1000' & " + signals.receive("started"));
    INFO(
        "the rank has ended; a process that left its group by setsid has its output "
        "open, "
        "so the output has no end");
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
    const Launched run =
        launched(2, split(1, signals.receive("ready") + "exit 3",
                          "trap 'echo saved; exit 5' TERM; " + signals.give("ready") +
                              "sleep 1000 & wait"));
    INFO("rank 1 fails; rank 0 saves its work after SIGTERM, and exits with 5");
    REQUIRE(run.lines.at(0) == Lines{"saved"});
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
                   // Show is slower than rank 0, so the pipe is full again before it is empty.
                   std::this_thread::sleep_for(std::chrono::microseconds(50));
               });
    REQUIRE(in_words(first) == "rank 1, exit code 3");
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
