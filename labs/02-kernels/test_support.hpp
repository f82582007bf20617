// Products by definition, for the checks of lab 02.

#pragma once

#include <cstddef>
#include <cstdint>

#include "labs/check/arrays.hpp"

namespace mini::labs {

/// A matrix in memory of which element (i, j) is at i * row_step + j * column_step.
struct Stored {
    const Values& values;
    int64_t row_step, column_step;
    double at(int64_t i, int64_t j) const {
        return double{values[static_cast<size_t>(i * row_step + j * column_step)]};
    }
};

/// Returns out + a b, computed in double. An empty `out` counts as zeros.
inline Values product_by_definition(const Values& out, const Stored& a, const Stored& b,
                                    int64_t M, int64_t N, int64_t K) {
    Values result;
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            double total = out.empty() ? 0.0 : double{out[result.size()]};
            for (int64_t k = 0; k < K; ++k) total += a.at(i, k) * b.at(k, j);
            result.push_back(static_cast<float>(total));
        }
    return result;
}

}  // namespace mini::labs
