// The program of a test, run again with other settings in its environment.

#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"

namespace mini::test {

/// How a program ended; code is -1 where a signal ended it. The text is of stdout and stderr.
struct Outcome {
    int code = -1;
    std::string text;
};

/// `env SETTING this-program CASE`. Blocks until it has ended.
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
