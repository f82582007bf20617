// Max pooling in the common case, adjacent windows of 2 x 2: see pool_2x2.cpp.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {

/// As max_pool2d if windows are 2 x 2 and adjacent, without padding; else returns false.
bool max_pool_2x2(float* y, int32_t* indices, const float* x, const ImageExtents& in,
                  const Window& window);

/// As max_pool2d_backward under the same condition; else returns false.
bool max_pool_2x2_backward(float* dx, const float* g, const int32_t* indices,
                           const ImageExtents& in, const Window& window);

}  // namespace mini::kernels::cpu
