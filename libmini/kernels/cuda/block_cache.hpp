// A cache of memory blocks, so that few allocations call the driver: of device memory
// (allocator.hpp), or of pinned host memory (pinned.hpp).
//
// The size of a block is rounded up to a size class. From 4096 bytes on there are 8
// classes between two powers of two, so less than 1/8 of the request is added:
//
//     512  1024  1536  ...  4096  4608  5120  ...  8192  9216  10240  ...
//
// A freed block is kept, and is reused for requests of its class, device and stream: new
// work in this stream runs after the stream's earlier work on the block, so no wait is
// needed (`torch.cuda.caching_allocator`). If other streams used the block too, events
// recorded in these streams must be complete before it is reused.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// A device's allocated memory in bytes, and counts of calls (`torch.cuda.memory_stats`).
struct MemoryStats {
    size_t allocated = 0;     // bytes of blocks in use
    size_t peak = 0;          // the maximum of `allocated`
    size_t reserved = 0;      // bytes of all blocks, in use or kept
    size_t requests = 0;      // calls of allocate
    size_t device_calls = 0;  // calls of cudaMalloc that succeeded
    size_t retries = 0;       // requests that had to empty the cache first
};

/// Returns the size of a block for a request of `bytes`.
size_t block_bytes(size_t bytes);

/// Returns whether freed blocks are kept. The default is set by MINI_CUDA_CACHING: with 0
/// every allocation calls the driver, so that a memory checker (compute-sanitizer, the
/// simulator's) sees each allocation.
bool caching();

/// Sets whether blocks that are allocated from now on are kept when they are freed.
void set_caching(bool on);

/// Sets whether this thread postpones frees during which CUDA may wait for the device.
/// Returns the previous setting. The next thread without this setting that allocates
/// memory, frees memory or empties the cache carries out the postponed frees. Use it in
/// threads that must not block while the device hangs.
bool set_frees_later(bool on);

class BlockCache {
  public:
    /// Returns memory for work in `stream`. If the driver has no more memory, empties the
    /// cache and tries again; then returns null. REQUIRES: bytes > 0.
    void* allocate(size_t bytes, int device, cudaStream_t stream);

    /// Frees memory of allocate; ignores other pointers.
    void deallocate(void* pointer);

    /// Returns whether an address is in a block in use.
    bool holds(const void* pointer);

    /// Makes the block in use that contains an address wait, when it is freed, for the
    /// work that `stream` then has. Returns whether there is such a block.
    bool record_stream(const void* pointer, cudaStream_t stream);

    /// As record_stream, but the block waits for the work that `stream` of `device` has
    /// now, and the stream need not live until the block is freed.
    void record_use(const void* pointer, int device, cudaStream_t stream);

    /// Returns the free blocks of a device to the driver. Blocks until the work that uses
    /// them is done.
    void empty(int device);

    MemoryStats stats(int device);
    void reset_peak(int device);

  protected:
    BlockCache() = default;
    ~BlockCache() = default;
    BlockCache(const BlockCache&) = delete;
    BlockCache& operator=(const BlockCache&) = delete;

    /// Calls the driver; returns null if there is not enough memory.
    virtual void* allocate_from_driver(size_t bytes, int device) = 0;
    virtual void return_to_driver(void* pointer, int device) = 0;

  private:
    struct List {  // of free blocks
        int device = 0;
        cudaStream_t stream = nullptr;
        size_t bytes = 0;

        auto operator<=>(const List&) const = default;
    };
    // Shared, so that a thread can wait for an event while another thread takes the block.
    using Events = std::vector<std::shared_ptr<const Event>>;
    struct Block {
        List list;
        bool cached = false, used = true;
        std::vector<cudaStream_t> other_streams = {};  // recorded by record_stream
        Events events = {};  // to be complete before the block is reused
    };
    using Blocks = std::map<std::byte*, Block>;  // by address

    static bool is_idle(const Block& block);
    Block* find(const void* pointer);
    void* take(const List& list);
    void count(const List& list);
    void free(void* pointer);
    void free_postponed();
    void return_block(void* pointer, const Block& block);

    // Not held during calls that may wait for the device. If a peer is lost, the device's
    // work ends only after a thread aborts the communication, and this thread frees
    // tensors, for which it needs the mutex.
    std::mutex mutex_;
    Blocks blocks_;
    std::map<List, std::vector<std::byte*>> free_;
    std::vector<void*> postponed_;  // postponed frees (set_frees_later)
    std::map<int, MemoryStats> stats_;
    std::mutex
        empty_mutex_;  // a second caller waits until the first has freed the memory
};

}  // namespace mini::cuda
