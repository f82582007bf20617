// Expectations that print both values if they fail: a bare near(got, 1.5) prints "false".

#pragma once

#include "tests/support/catch.hpp"

namespace mini::labs {

/// Returns what equals the numbers that differ from `expected` by at most `tolerance`; NaN
/// differs from all: CHECK(loss == about(0.5, 1e-5)).
inline Approx about(double expected, double tolerance) {
    return Approx(expected).margin(tolerance).epsilon(0);
}

/// Matches a text with this part: CHECK_THAT(message, ContainsSubstring("rank 1")).
using Catch::Matchers::ContainsSubstring;

}  // namespace mini::labs
