// The simulator's settings, read from environment variables.

#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::sim {

/// Returns the integer in an environment variable, or `default_value` if it is not set.
/// Throws UsageError if the value is not an integer in [min, max].
inline size_t setting(const char* name, size_t default_value, size_t min, size_t max) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return default_value;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*end != '\0' || *text == '-' || value < min || value > max)
        throw UsageError(
            concat(name, "=", text, ": must be an integer from ", min, " to ", max));
    return value;
}

}  // namespace mini::sim
