// A lab's check whose student code cheats: each case ends with an expectation that does
// not hold, and does before that what would hide the failure. Run by cheats_test.py, which
// requires that no cheat passes, and that the honest case does.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace {

// The words of this process's command line: program, case, -r, xml, -o, result file.
std::vector<std::string> command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

std::string success() {
    return "<?xml version=\"1.0\"?>\n<Catch name=\"x\"><Group name=\"x\"><TestCase "
           "name=\"" +
           command_line().at(1) +
           "\"><OverallResult success=\"true\"/></TestCase></Group></Catch>\n";
}

void write_success() { std::ofstream(command_line().at(5)) << success(); }

// A global object's constructor runs before main.
const bool early = [] {
    const auto words = command_line();
    if (words.size() < 6 || words[1].find("before main") == std::string::npos)
        return false;
    write_success();
    _exit(0);
}();

[[gnu::noinline]] int recursion(int depth) {
    if (depth < 0) return 0;
    volatile char frame[256] = {};
    return recursion(depth + 1) + frame[depth % 256];
}

// Starts a process that no longer belongs to the case's group, and returns in the case.
template <class Act>
void survive(Act act) {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    act();
    _exit(0);
}

}  // namespace

TEST_CASE("honest", "[lab98.1]") { CHECK(command_line().size() >= 6); }

TEST_CASE("writes its result and exits", "[lab98.2]") {
    write_success();
    _exit(0);
}

TEST_CASE("prints a result and a summary and exits", "[lab98.3]") {
    std::printf("%sAll tests passed (1 assertion in 1 test case)\n", success().c_str());
    std::fflush(stdout);
    _exit(0);
}

TEST_CASE("kills its parent", "[lab98.4]") {
    kill(getppid(), SIGKILL);
    kill(-1, SIGKILL);
    FAIL("the parent lives");
}

TEST_CASE("leaves a process that writes the result later", "[lab98.5]") {
    survive([] {
        for (;;) {
            usleep(1000);
            write_success();
        }
    });
    FAIL("wrong");
}

TEST_CASE("replaces the program of the check", "[lab98.6]") {
    const std::string program = command_line().at(0);
    std::ofstream(program + ".new") << "#!/bin/sh\nexit 0\n";
    std::rename((program + ".new").c_str(), program.c_str());
    FAIL("wrong");
}

TEST_CASE("closes all files", "[lab98.7]") {
    for (int fd = 0; fd < 1024; ++fd) close(fd);
    FAIL("wrong");
}

TEST_CASE("changes the result when the process exits", "[lab98.8]") {
    std::atexit([] {
        write_success();
        _exit(0);
    });
    FAIL("wrong");
}

TEST_CASE("becomes another program", "[lab98.9]") {
    write_success();
    setenv("LD_PRELOAD", "/tmp/own.so", 1);
    execl("/bin/sh", "sh", "-c", "exit 0", nullptr);
}

TEST_CASE("writes without end", "[lab98.10]") {
    for (;;) std::printf("]]> </Catch> \x1b[2J \xff\xfe All tests passed\n");
}

TEST_CASE("forks without end", "[lab98.11]") {
    for (;;) fork();
}

TEST_CASE("calls itself without end", "[lab98.12]") { CHECK(recursion(0) == 0); }

TEST_CASE("exits before main", "[lab98.13]") { FAIL("wrong"); }

TEST_CASE("guesses the token", "[lab98.14]") {
    write_success();
    const char zeros[32] = {};
    for (int fd = 3; fd < 1024; ++fd)
        [[maybe_unused]] const auto written = write(fd, zeros, sizeof zeros);
    _exit(0);
}

TEST_CASE("puts a link in place of its result", "[lab98.15]") {
    const std::string mine = command_line().at(5) + ".mine";
    std::ofstream(mine) << success();
    unlink(command_line().at(5).c_str());
    [[maybe_unused]] const int linked =
        symlink(mine.c_str(), command_line().at(5).c_str());
    FAIL("wrong");
}

TEST_CASE("loops without end", "[lab98.16]") {
    for (volatile bool on = true; on;) {
    }
}

TEST_CASE("fills the disk", "[lab98.17]") {
    signal(SIGXFSZ, SIG_IGN);
    std::ofstream file("filled", std::ios::binary);
    const std::string block(1 << 20, 'x');
    for (int i = 0; i < 1024 && file; ++i) file << block;
    FAIL("wrong");
}

TEST_CASE("reads outside of an array", "[lab98.18]") {
    const std::vector<int> values(static_cast<size_t>(std::atoi("3")));
    INFO("3 numbers, and the index is 3");
    CHECK(values.data()[3] == 0);
}

TEST_CASE("takes more and more memory", "[lab98.19]") {
    INFO("2^40 paths, 80 edges");
    std::vector<std::string> kept;
    for (int i = 0; i < 1 << 20; ++i) kept.emplace_back(1 << 20, 'x');
    CHECK(kept.empty());
}
