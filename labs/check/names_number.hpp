// A search for a number in an error message, whose words are free.

#pragma once

#include <cstdint>
#include <regex>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::labs {

/// Returns whether `number` is in `message`, not as a part of another number.
inline bool names_number(const std::string& message, int64_t number) {
    const std::regex alone(concat("(^|[^-0-9.])", number, "($|[^0-9])"));
    return std::regex_search(message, alone);
}

}  // namespace mini::labs
