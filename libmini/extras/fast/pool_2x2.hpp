// Max pooling in the common case, adjacent windows of 2 x 2: see pool_2x2.cpp.

#pragma once

#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu {

/// Returns the pooling if windows are 2 x 2 and adjacent, without padding, and divide the
/// plane into rows of a multiple of 4 and a multiple of 8 windows in all; else null.
const PoolKernels* pool_2x2(const ImageExtents& in, const Window& window);

}  // namespace mini::kernels::cpu
