// The greatest element of a window, and its index.

#pragma once

#include <cstdint>

namespace mini::kernels::cpu {

/// The greatest element so far. Only a greater element or NaN replaces it: so the first
/// of equal elements wins, and a number never replaces NaN, because no number compares
/// greater than NaN.
struct Greatest {
    float value;
    int32_t index;

    /// Replaces the element if v wins. Two selections and no branch, so that the loop
    /// over windows can be vectorised.
    void offer(float v, int32_t v_index) {
        const bool wins = (v > value) | (v != v);
        value = wins ? v : value;
        index = wins ? v_index : index;
    }
};

}  // namespace mini::kernels::cpu
