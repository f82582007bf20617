// Reads the JSON that the built `mini` program prints.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"

namespace mini::test {

/// Runs `mini ARGUMENTS`, which must succeed, and returns the JSON that it prints.
inline nlohmann::json json_of_mini(const std::string& arguments) {
    const Answer answer = run_mini(arguments);
    CAPTURE(arguments, answer.text);
    REQUIRE(answer.code == 0);
    return nlohmann::json::parse(answer.text);
}

}  // namespace mini::test
