// Runs a test's own program again, with a variable set in the environment.

#pragma once

#include <filesystem>
#include <string>

#include "libmini/core/error.hpp"
#include "tests/support/answer.hpp"

namespace mini::test {

/// Runs `env SETTING PROGRAM TEST`: this program again, with the test case `test` only.
/// Blocks until the program has exited.
inline Answer run_self(const std::string& setting, const std::string& test) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    return run_shell(concat("env ", setting, " '", self, "' '", test, "'"));
}

}  // namespace mini::test
