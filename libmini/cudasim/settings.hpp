// The simulator's settings, from the environment.

#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::sim {

/// The whole number that a variable of the environment gives, or `otherwise` where it is not
/// set. Throws UsageError outside [least, most].
inline size_t setting(const char* name, size_t otherwise, size_t least, size_t most) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*end != '\0' || *text == '-' || value < least || value > most)
        throw UsageError(concat(name, "=", text, ": a whole number from ", least, " to ",
                                most, " is needed"));
    return value;
}

}  // namespace mini::sim
