// Pinned memory of the host, and a cache of it.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Host memory that a device can read and write by itself; null for no bytes. Freed
/// memory is kept, and given out again once the copies that used it (copy.hpp,
/// record_stream) are done (`torch.Tensor.pin_memory`).
void* allocate_pinned(size_t bytes);
void deallocate_pinned(void* pointer) noexcept;

/// Gives kept pinned memory back to the system.
void empty_pinned_cache();

/// A copy between `host` and device memory `other` is in the stream. Where `host` is
/// pinned memory of allocate_pinned, it is not given out before the copy is done.
void pinned_copied(const void* host, const void* other, cudaStream_t stream);

/// The same for any other work, in a stream of the current device.
void record_pinned(const void* host, cudaStream_t stream);

}  // namespace mini::cuda
