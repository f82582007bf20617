// The checks of lab 12, task 12.1: the start of the ranks. The ranks are shell scripts.

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "labs/12-launcher/test_launch.hpp"

using namespace mini;
using namespace mini::lab12;

namespace {

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
                "cat && echo end of stdin; "
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
