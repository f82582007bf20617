// Device memory without a call of the driver an allocation.
//
// Freed blocks are kept, by device and stream, and given out again to the stream that
// freed them: what the stream does next comes after what it did with the block, so no
// wait is needed (`torch.cuda.caching_allocator`). A block that other streams used as
// well says so (record_stream), and is given out again once they are past that.
//
//     segment, from the device    | block, in use | block, free | block, in use | block, free |
//
// Sizes are multiples of 512 bytes. Up to 1 MiB they share segments of 2 MiB, below 10
// MiB segments of 20 MiB; larger ones have their own. The smallest free block that
// suffices is taken and what is left over is cut off; free neighbours become one again.
// The sizes are those of PyTorch's allocator.
//
// With MINI_CUDA_CACHING=0 every allocation but a graph pool's asks the device, so that a
// checker of memory (compute-sanitizer, the simulator's) sees each by itself.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/kernels/cuda/free_policy.hpp"
#include "libmini/kernels/cuda/pinned.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// What a device's allocator holds, in bytes (`torch.cuda.memory_stats`).
struct MemoryStats {
    size_t allocated = 0;     // handed out
    size_t peak = 0;          // the most that was handed out at once
    size_t reserved = 0;      // taken from the device
    size_t requests = 0;      // calls of allocate
    size_t device_calls = 0;  // those that had to ask the device
    size_t retries = 0;       // those that had to empty the cache first
};

/// Memory of a device for work in the order of `stream`, at a multiple of 512 bytes; null
/// for no bytes. Throws CudaError naming the bytes asked for, handed out, kept and free.
void* allocate(size_t bytes, int device, cudaStream_t stream);

/// Takes memory back; null is nothing. Work that is already in the block's stream, or in
/// a recorded one, may still use it.
void deallocate(void* pointer) noexcept;

/// Work in `stream` uses the block of `pointer`, which was allocated for another stream:
/// until what the stream holds when the block is freed is done, it is not given out
/// (`torch.Tensor.record_stream`). Pinned memory waits for what the stream holds now.
/// REQUIRES: the stream lives until the block is freed.
void record_stream(void* pointer, cudaStream_t stream);

MemoryStats memory_stats(int device);

/// Begins a new peak (`torch.cuda.reset_peak_memory_stats`).
void reset_peak_memory_stats(int device);

/// Gives what is kept back to the device (`torch.cuda.empty_cache`). Blocks until the
/// device is done with it.
void empty_cache(int device);

/// Memory that belongs to a captured graph, whose kernels hold its addresses: what is
/// allocated inside a Scope comes from blocks of its own, and goes back to those alone
/// until the pool is destroyed (`torch.cuda.graph_pool_handle`).
class GraphPool {
  public:
    explicit GraphPool(int device);
    /// Blocks until the device is done. REQUIRES: the graph is launched no more.
    ~GraphPool();
    GraphPool(const GraphPool&) = delete;
    GraphPool& operator=(const GraphPool&) = delete;

    /// While it lives, this thread allocates on the pool's device from the pool.
    class Scope {
      public:
        explicit Scope(const GraphPool& pool);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        int device_before_;
        uint64_t pool_before_;
    };

  private:
    int device_;
    uint64_t id_;
};

}  // namespace mini::cuda
