// Checks of the options of optimizers.

#pragma once

#include <cmath>

#include "libmini/core/error.hpp"

namespace mini::optim {

/// Throws UsageError, naming the optimizer and the option, unless `value` is finite and
/// not negative.
inline void check_not_negative(const char* optimizer, const char* option, double value) {
    if (!std::isfinite(value))
        throw UsageError(
            concat(optimizer, ": ", option, " must be finite, but is ", value));
    if (value < 0.0)
        throw UsageError(
            concat(optimizer, ": ", option, " must not be negative, but is ", value));
}

}  // namespace mini::optim
