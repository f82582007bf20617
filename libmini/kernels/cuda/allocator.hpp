// The caching allocator of device memory and of pinned host memory, so that few
// allocations call the driver. gpu.hpp declares allocate(), allocate_pinned() and
// deallocate().
//
// The size of a block is rounded up to a size class. From 4096 bytes on there are 8
// classes between two powers of two, so less than 1/8 of the request is added:
//
//     512  1024  1536  ...  4096  4608  5120  ...  8192  9216  10240  ...
//
// A freed block is kept, and is reused for requests of its class, device and stream: new
// work in this stream runs after the stream's earlier work on the block, so no wait is
// needed (`torch.cuda.caching_allocator`). If other streams used the block too, events
// recorded in these streams must be complete before it is reused. A block of pinned
// memory has no stream of its own: every copy records an event.

#pragma once

#include <cstddef>

#include "libmini/kernels/gpu.hpp"

namespace mini::cuda {

/// Records that `stream`, a stream of the current device, uses the block that contains
/// `pointer`, which is pinned, or was allocated for another stream. The block is not
/// reused before the stream has done all work that was added before this call. Unlike with
/// `torch.Tensor.record_stream`, a later free does not wait. Other pointers are ignored.
void record_stream(const void* pointer, cudaStream_t stream);

/// A device's allocated memory in bytes, and counts of calls (`torch.cuda.memory_stats`).
struct MemoryStats {
    size_t allocated = 0;     // bytes of blocks in use
    size_t reserved = 0;      // bytes of all blocks, in use or kept
    size_t device_calls = 0;  // calls of cudaMalloc that succeeded
    size_t retries = 0;       // requests that had to empty the cache first
};

/// Returns the statistics of a device, or of pinned memory (kHost), of this process only.
MemoryStats memory_stats(int device);

/// Returns the free blocks of a device, or of pinned memory (kHost), to the driver
/// (`torch.cuda.empty_cache`). Blocks until the work that uses this memory is done.
void empty_cache(int device);

/// A device's total memory, and the memory that no process uses, in bytes
/// (`torch.cuda.mem_get_info`).
struct MemoryInfo {
    size_t free = 0, total = 0;
};
MemoryInfo memory_info(int device);

/// Returns the size of a block for a request of `bytes`.
size_t block_bytes(size_t bytes);

/// Returns whether freed blocks are kept. The default is set by MINI_CUDA_CACHING: with 0
/// every allocation calls the driver, so that a memory checker (compute-sanitizer, the
/// simulator's) sees each allocation.
bool caching();

/// Sets whether blocks that are allocated from now on are kept when they are freed.
void set_caching(bool on);

/// Sets whether this thread postpones frees that call the driver, which may wait for the
/// device. Returns the previous setting. The next thread without this setting that
/// allocates memory, frees memory or empties the cache carries out the postponed frees.
/// Use it in threads that must not block while the device hangs.
bool set_frees_later(bool on);

}  // namespace mini::cuda
