// Device memory without a call of the driver an allocation.
//
// Freed blocks are kept, by device and stream, and given out again to the stream that freed
// them: what the stream does next comes after what it did with the block, so no wait is
// needed (`torch.cuda.caching_allocator`).

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// What a device's allocator holds, in bytes (`torch.cuda.memory_stats`).
struct MemoryStats {
    size_t allocated = 0;   // handed out
    size_t peak = 0;        // the most that was handed out at once
    size_t reserved = 0;    // taken from the device
    size_t requests = 0;    // calls of allocate
    size_t device_calls = 0;  // those that had to ask the device
};

/// Memory of a device for work in the order of `stream`, at a multiple of 512 bytes.
/// Throws CudaError naming the bytes asked for, handed out and free.
void* allocate(size_t bytes, int device, cudaStream_t stream);
void deallocate(void* pointer) noexcept;

MemoryStats memory_stats(int device);

/// Gives what is kept back to the device (`torch.cuda.empty_cache`).
void empty_cache(int device);

/// Host memory that a device can read and write by itself.
void* allocate_pinned(size_t bytes);
void deallocate_pinned(void* pointer) noexcept;

}  // namespace mini::cuda
