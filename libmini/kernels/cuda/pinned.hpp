// What copies tell the cache of pinned memory (allocator.hpp).

#pragma once

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// A copy between `host` and device memory `other` is in the stream. Where `host` is pinned
/// memory of allocate_pinned, nobody else gets that before the copy is done.
void pinned_copied(const void* host, const void* other, cudaStream_t stream);

/// The same for any other work, in a stream of the current device.
void record_pinned(const void* host, cudaStream_t stream);

}  // namespace mini::cuda
