// Max pooling of one plane of one image.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {

/// The greatest element so far; with vectors, that of each lane. Only a greater element or
/// NaN replaces it: so the first of equal elements wins, and a number never replaces NaN,
/// because no number compares greater than NaN.
template <typename Value, typename Index>
struct GreatestOf {
    Value value;
    Index index;

    /// Replaces the element if v wins. Two selections and no branch, so that the loop
    /// over windows can be vectorised.
    void offer(Value v, Index v_index) {
        const auto wins = (v > value) | (v != v);
        value = wins ? v : value;
        index = wins ? v_index : index;
    }
};
using Greatest = GreatestOf<float, int32_t>;

/// Sets y to the maximum of each window, and indices to the index h W + w of this maximum
/// in the plane. Padding is never the maximum. The first of equal elements wins, in
/// row-major order, and NaN wins over all numbers. REQUIRES: each window has an element of
/// the plane.
void max_pool_plane(float* y,          // (Ho, Wo)
                    int32_t* indices,  // (Ho, Wo)
                    const float* x,    // (H, W)
                    int64_t H, int64_t W, Window window);

/// Sets dx, whatever it contains before, to the gradient of max_pool_plane, from g = dL/dy
/// and the indices of its `outputs` maxima.
void max_pool_plane_backward(float* dx,               // (H, W)
                             const float* g,          // (outputs)
                             const int32_t* indices,  // (outputs)
                             int64_t H, int64_t W, int64_t outputs);

}  // namespace mini::kernels::cpu
