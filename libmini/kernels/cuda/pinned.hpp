// Pinned host memory, and its cache.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Returns host memory that a device can access directly; null for 0 bytes. Freed memory
/// is cached, and reused once the copies that used it (copy.hpp, record_stream) are done
/// (`torch.Tensor.pin_memory`).
void* allocate_pinned(size_t bytes);

/// Frees memory of allocate_pinned; other pointers and null are ignored.
void deallocate_pinned(void* pointer) noexcept;

/// Returns cached pinned memory to the system. Blocks until the work that uses it is
/// done.
void empty_pinned_cache();

/// Notes that a copy between `host` and the device memory `other` is in the stream. If
/// `host` is memory of allocate_pinned, it is not reused before the copy is done.
void pinned_copied(const void* host, const void* other, cudaStream_t stream);

/// Notes that any other work on `host` is in a stream of the current device: the memory
/// is not reused before that work is done.
void record_pinned(const void* host, cudaStream_t stream);

}  // namespace mini::cuda
