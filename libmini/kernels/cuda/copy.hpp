// Copies between host and device.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Copies bytes between any two places, host or device, in a stream's order. Blocks only as
/// far as CUDA does for memory that is not pinned. Memory of allocate_pinned may be freed right
/// after.
void copy(void* to, const void* from, size_t bytes, cudaStream_t stream);

}  // namespace mini::cuda
