// Pinned host memory, and its cache.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Returns host memory that a device can access directly; null for 0 bytes. Freed memory
/// is cached, and reused once the work that used it (copy.hpp, record_stream) is done
/// (`torch.Tensor.pin_memory`).
void* allocate_pinned(size_t bytes);

/// Frees memory of allocate_pinned; other pointers and null are ignored.
void deallocate_pinned(void* pointer) noexcept;

/// Returns whether `pointer` points into memory of allocate_pinned that is not freed.
bool is_pinned(const void* pointer);

/// Returns cached pinned memory to the system. Blocks until the work that uses this
/// memory is done.
void empty_pinned_cache();

/// Records that a copy between `host` and `other` is in the stream. If `host` is memory
/// of allocate_pinned and `other` is device memory, `host` is not reused before the copy
/// is done.
void pinned_copied(const void* host, const void* other, cudaStream_t stream);

/// Records that work other than a copy uses `host` in a stream of the current device: the
/// memory is not reused before this work is done.
void record_pinned(const void* host, cudaStream_t stream);

}  // namespace mini::cuda
