// The caching allocator of device memory: few allocations call the driver.
//
// Freed blocks are cached per device and stream. A block is reused only for the stream
// that it was allocated for: new work in this stream runs after the stream's earlier work
// on the block, so no wait is needed (`torch.cuda.caching_allocator`). A block that other
// streams use too (record_stream) is reused only after the work of these streams is done.
//
//     segment, from the device  | block, used | block, free | block, used | block, free |
//
// Block sizes are multiples of 512 bytes. Blocks of up to 1 MiB share segments of 2 MiB,
// blocks below 10 MiB share segments of 20 MiB, and larger blocks have their own segment.
// An allocation takes the smallest free block that is large enough and splits off the
// rest; adjacent free blocks are merged. The sizes are those of PyTorch's allocator.
//
// With MINI_CUDA_CACHING=0 every allocation calls cudaMalloc, so that a memory checker (compute-sanitizer, the simulator's) sees each allocation.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/free_policy.hpp"
#include "libmini/kernels/cuda/pinned.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// A device's allocated memory in bytes, and counts of calls (`torch.cuda.memory_stats`).
struct MemoryStats {
    size_t allocated = 0;     // bytes of blocks in use
    size_t peak = 0;          // the maximum of `allocated`
    size_t reserved = 0;      // bytes of segments allocated from the device
    size_t requests = 0;      // calls of allocate
    size_t device_calls = 0;  // calls of cudaMalloc that succeeded
    size_t retries = 0;       // requests that had to empty the cache first
};

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
