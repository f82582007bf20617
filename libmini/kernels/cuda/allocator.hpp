// The caching allocator of device memory (block_cache.hpp).

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/block_cache.hpp"
#include "libmini/kernels/cuda/pinned.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Returns device memory for work in `stream`, aligned to 512 bytes; null for 0 bytes.
/// Throws CudaError with the bytes requested, allocated, cached and free.
void* allocate(size_t bytes, int device, cudaStream_t stream);

/// Frees memory of allocate(); a null pointer is ignored. Work that is already in the
/// block's stream, or in a recorded stream, may still use the memory.
void deallocate(void* pointer) noexcept;

/// Records that work in `stream` uses the block of `pointer`, which was allocated for
/// another stream. A freed block is not reused before `stream` has done all work that was
/// added before the free (`torch.Tensor.record_stream`). Pinned memory is not reused
/// before `stream` has done all work that was added before this call. REQUIRES: the
/// stream lives until the block is freed.
void record_stream(void* pointer, cudaStream_t stream);

/// Returns a device's statistics, of this process only.
MemoryStats memory_stats(int device);

/// Sets the peak to the bytes allocated now (`torch.cuda.reset_peak_memory_stats`).
void reset_peak_memory_stats(int device);

/// Returns cached memory to the device (`torch.cuda.empty_cache`). Blocks until the work
/// that uses this memory is done.
void empty_cache(int device);

}  // namespace mini::cuda
