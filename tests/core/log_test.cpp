#include "libmini/core/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

namespace {

namespace logging = mini::logging;
using mini::test::run_shell, mini::test::written_to_stderr;

// Returns what `body` writes to stderr when stderr is a terminal (a new pseudo-terminal).
std::string written_to_terminal(const std::function<void()>& body) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        throw mini::Error(mini::system_message("posix_openpt", errno));
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    {
        const mini::test::StderrTo redirected(terminal);
        body();
    }
    char buffer[4096];
    const ssize_t n = read(master, buffer, sizeof buffer);
    close(terminal);
    close(master);
    return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

// Runs the hidden test below in a new process with MINI_LOG_LEVEL = `value`, and returns
// its output to stderr.
std::string written_at_level(const std::string& value) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    return run_shell(mini::concat("MINI_LOG_LEVEL=", value, " '", self,
                                  "' -o /dev/null "
                                  "'a program that logs one message per level'"))
        .text;
}

void log_all_levels() {
    logging::write(logging::Level::kDebug, "a");
    logging::info("b");
    logging::warning("c");
    logging::write(logging::Level::kError, "d");
}

// At the end of a test, restores the level, resets the rank and unsets NO_COLOR.
struct Restore {
    logging::Level level = logging::level();
    ~Restore() {
        logging::set_level(level);
        logging::set_rank(-1);
        unsetenv("NO_COLOR");
    }
};

}  // namespace

TEST_CASE("a message is one line with its level and the rank if one is set") {
    const Restore restore;
    logging::set_level(logging::Level::kWarning);
    CHECK(written_to_stderr([] { logging::warning("took ", 3, " s"); }) ==
          "warning: took 3 s\n");
    logging::set_rank(1);
    CHECK(written_to_stderr([] {
              logging::warning("shape is ", std::vector<int>{2, 3});
          }) == "[rank 1] warning: shape is (2, 3)\n");
}

TEST_CASE("messages below the minimum level are not shown") {
    const Restore restore;
    logging::set_level(logging::Level::kDebug);
    CHECK(written_to_stderr(log_all_levels) ==
          "debug: a\ninfo: b\nwarning: c\nerror: d\n");
    logging::set_level(logging::Level::kError);
    CHECK(written_to_stderr(log_all_levels) == "error: d\n");
    logging::set_level(logging::Level::kOff);
    CHECK(written_to_stderr(log_all_levels) == "");
    CHECK(written_to_stderr([] { logging::write(logging::Level::kError, "e"); }) == "");
}

TEST_CASE("each thread has its own rank") {
    const Restore restore;
    logging::set_rank(0);
    int rank_elsewhere = 0;
    std::thread([&] {
        rank_elsewhere = logging::rank();
        logging::set_rank(5);
    }).join();
    CHECK(rank_elsewhere == -1);
    CHECK(logging::rank() == 0);
}

TEST_CASE("lines of several threads do not interleave") {
    const Restore restore;
    logging::set_level(logging::Level::kInfo);
    const std::string text = written_to_stderr([] {
        std::vector<std::thread> threads;
        for (int rank = 0; rank < 4; ++rank)
            threads.emplace_back([rank] {
                logging::set_rank(rank);
                for (int i = 0; i < 50; ++i) logging::info("a line that must stay whole");
            });
        for (std::thread& thread : threads) thread.join();
    });

    std::istringstream lines(text);
    int whole = 0;
    for (std::string line; std::getline(lines, line); ++whole)
        REQUIRE(line.substr(7) == "] info: a line that must stay whole");
    CHECK(whole == 200);
}

TEST_CASE("output to a terminal has colour unless NO_COLOR is set and not empty") {
    const Restore restore;
    logging::set_level(logging::Level::kWarning);
    const auto warn = [] { logging::warning("hot"); };
    setenv("TERM", "xterm", 1);  // in a dumb terminal there is no colour
    CHECK(written_to_terminal(warn) == "\x1b[33mwarning:\x1b[0m hot\r\n");
    setenv("NO_COLOR", "", 1);
    CHECK(written_to_terminal(warn) == "\x1b[33mwarning:\x1b[0m hot\r\n");
    setenv("NO_COLOR", "1", 1);
    CHECK(written_to_terminal(warn) == "warning: hot\r\n");
}

TEST_CASE("a program that logs one message per level", "[.]") { log_all_levels(); }

TEST_CASE("MINI_LOG_LEVEL sets the initial minimum level") {
    CHECK(written_at_level("debug") == "debug: a\ninfo: b\nwarning: c\nerror: d\n");
    CHECK(written_at_level("info") == "info: b\nwarning: c\nerror: d\n");
    CHECK(written_at_level("warning") == "warning: c\nerror: d\n");
    CHECK(written_at_level("") == "warning: c\nerror: d\n");
    CHECK(written_at_level("error") == "error: d\n");
    CHECK(written_at_level("off") == "");
    CHECK(written_at_level("loud") ==
          "warning: MINI_LOG_LEVEL is \"loud\", not debug, info, warning, error or off; "
          "using warning\nwarning: c\nerror: d\n");
}
