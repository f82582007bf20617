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

/// Runs `mini ARGUMENTS` and returns its exit code and output.
inline Answer run_mini(const std::string& arguments) {
    const std::string command = fmt::format("{}/mini {} 2>&1", MINI_BIN_DIR, arguments);
    FILE* pipe = ::popen(command.c_str(), "r");
    MINI_CHECK(pipe != nullptr, "popen failed");
    Answer answer{};
    std::array<char, 4096> buffer;
    while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
        answer.text.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return answer;
}

}  // namespace mini::test
