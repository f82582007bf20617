// The check of lab 11, task 11.6, of the group's locks: it runs the program of test_locks.cpp,
// which has the thread sanitizer.

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using mini::Error;
using mini::test::contains;

namespace {

struct Ended {
    bool has_run = false;
    std::string output;  // of both streams
};

// Runs the program, which has the thread sanitizer. has_run is false if it cannot run here.
Ended run_with_thread_sanitizer(const std::string& program) {
    Ended ended;
    if (access(program.c_str(), X_OK) != 0) return ended;
    // At random addresses the sanitizer may not start; a container may forbid setarch.
    const std::string command =
        "fixed=; setarch -R true 2>/dev/null && fixed='setarch -R'; "
        "TSAN_OPTIONS=halt_on_error=1 exec $fixed '" +
        program + "' 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return ended;
    std::array<char, 4096> part;
    while (const size_t count = fread(part.data(), 1, part.size(), pipe))
        ended.output.append(part.data(), count);
    pclose(pipe);
    ended.has_run = !contains(ended.output, "FATAL: ThreadSanitizer");
    return ended;
}

// Returns the accesses of the report of a race, each in one line: "Write by main thread, at
// work/11-collectives/simple_group.cpp:55".
std::vector<std::string> accesses_in(const std::string& report) {
    const std::regex access(
        R"( *(.*) of size \d+ at \w+ by (thread T\d+|main thread).*)");
    const std::regex place(R"(.*/(\w+\.cpp:\d+).*)");
    std::vector<std::string> found;
    std::istringstream lines(report);
    bool is_open = false;  // the access has no line of the learner's file yet
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_match(line, match, access)) {
            found.push_back(match[1].str() + " by " + match[2].str());
            is_open = true;
        } else if (is_open && contains(line, "simple_group.cpp:") &&
                   std::regex_match(line, match, place)) {
            found.back() += ", at work/11-collectives/" + match[1].str();
            is_open = false;
        }
    }
    return found;
}

}  // namespace

TEST_CASE("a lock orders all that two threads use", "[lab11][lab11.6]") {
    const std::string program =
        std::filesystem::read_symlink("/proc/self/exe").string() + "_threads";
    const Ended ended = run_with_thread_sanitizer(program);
    if (contains(ended.output, "not started")) throw Error(ended.output);
    INFO("simple_group.cpp, compiled with the thread sanitizer; two threads use one");
    INFO("variable, and no lock orders them:");
    for (const std::string& access : accesses_in(ended.output)) UNSCOPED_INFO(access);
    const bool has_race =
        ended.has_run && contains(ended.output, "WARNING: ThreadSanitizer");
    REQUIRE_FALSE(has_race);
}
