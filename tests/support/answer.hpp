// Runs the built `mini` program.

#pragma once

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::test {

struct Answer {
    int code;
    std::string text;  // stdout and stderr
};

/// Runs a command of a shell and returns its exit code and output.
inline Answer run_shell(const std::string& command) {
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    MINI_CHECK(pipe != nullptr, "popen failed");
    Answer answer{};
    std::array<char, 4096> buffer;
    while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
        answer.text.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return answer;
}

/// Runs `mini ARGUMENTS` and returns its exit code and output.
inline Answer run_mini(const std::string& arguments) {
    return run_shell(fmt::format("{}/mini {}", MINI_BIN_DIR, arguments));
}

}  // namespace mini::test
