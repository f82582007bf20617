// Runs a test's own program again, with a variable set in the environment.

#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"

namespace mini::test {

/// The exit code of a program (-1 if a signal ended the program), and the text that it
/// wrote to stdout and stderr.
struct Outcome {
    int code = -1;
    std::string text;
};

/// Runs `env SETTING PROGRAM TEST`: this program again, with the test case `test` only.
/// Blocks until the program has exited.
inline Outcome run_self(const std::string& setting, const std::string& test) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    FILE* const pipe =
        popen(("env " + setting + " '" + self + "' '" + test + "' 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    Outcome outcome;
    std::array<char, 1024> part;
    for (size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe)) > 0;)
        outcome.text.append(part.data(), n);
    const int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
    return outcome;
}

}  // namespace mini::test
