// Arrays of floats, for the checks of the labs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::labs {

using Values = std::vector<float>;

/// Returns the numbers 1, 2, ..., n.
inline Values count_up(int64_t n) {
    Values values;
    for (int64_t i = 1; i <= n; ++i) values.push_back(static_cast<float>(i));
    return values;
}

/// Returns a matrix in words: "1 2 / 3 4"; "nothing" if it has no elements.
inline std::string rows_of(const Values& x, int64_t columns) {
    std::string text;
    for (size_t i = 0; i < x.size(); ++i) {
        const bool new_row = i > 0 && i % static_cast<size_t>(columns) == 0;
        text += concat(i == 0 ? "" : new_row ? " / " : " ", x[i]);
    }
    return text.empty() ? "nothing" : text;
}

}  // namespace mini::labs
