// Copies between host and device.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Copies bytes between any two addresses, host or device, in stream order. Blocks only
/// if cudaMemcpyAsync blocks: for host memory that is not pinned. Memory of
/// allocate_pinned may be freed immediately after the call.
void copy(void* to, const void* from, size_t bytes, cudaStream_t stream);

}  // namespace mini::cuda
