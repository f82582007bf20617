// Max pooling in the common case, adjacent windows of 2 x 2: see pool_2x2.cpp.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {

/// Returns whether windows are 2 x 2 and adjacent, without padding.
inline bool is_adjacent_2x2(const Window& window) {
    return window.kernel == 2 && window.stride == 2 && window.padding == 0;
}

/// Pools one plane x (H, W).
void pool_plane_2x2(float* y, int32_t* indices, const float* x, int64_t H, int64_t W);

/// Sets dx (H, W) to the gradient of pool_plane_2x2, whose indices are given.
void spread_plane_2x2(float* dx, const float* g, const int32_t* indices, int64_t H,
                      int64_t W);

}  // namespace mini::kernels::cpu
