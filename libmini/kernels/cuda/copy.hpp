// Copies between host and device, and between devices.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Copies bytes between any two addresses, host or device, in stream order. Blocks only
/// if cudaMemcpyAsync blocks: for host memory that is not pinned. Memory of
/// allocate_pinned may be freed immediately after the call.
void copy(void* to, const void* from, size_t bytes, cudaStream_t stream);

/// Lets `device` access the memory of `peer`, if the machine connects them: otherwise
/// copies between the two go through host memory. The first call for a pair opens both
/// devices; later calls do nothing (PyTorch does the same before its copies).
void enable_peer_access(int device, int peer);

}  // namespace mini::cuda
