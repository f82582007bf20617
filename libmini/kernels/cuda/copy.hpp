// Copies between host and device, and between devices.

#pragma once

#include <cstddef>

#include "libmini/kernels/gpu.hpp"

namespace mini::cuda {

/// Copies bytes between any two addresses, host or device, in stream order. Blocks only
/// if cudaMemcpyAsync blocks: for host memory that is not pinned. Pinned memory may be
/// freed immediately after the call. REQUIRES: with pinned memory, the stream is one of
/// the current device.
void copy(void* to, const void* from, size_t bytes, cudaStream_t stream);

}  // namespace mini::cuda
