#include "libmini/kernels/cuda/allocator.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/kernels/cuda/blocks.hpp"
#include "libmini/kernels/cuda/pending.hpp"

namespace mini::cuda {
namespace {

constexpr size_t kMaxBytes = std::numeric_limits<size_t>::max() / 2;

// The mutex is not held during calls that may wait for the device. If a peer is lost, the
// device's work ends only after a thread aborts the communication, and this thread frees
// tensors, for which it needs the mutex.
class Allocator {
  public:
    void* allocate(size_t bytes, int device, cudaStream_t stream);
    void deallocate(void* pointer);
    void free_postponed();
    bool record_stream(void* pointer, cudaStream_t stream);
    void empty_cache(int device);

    std::mutex mutex;  // guards the following members
    std::map<int, MemoryStats> stats;

  private:
    struct Direct {
        int device;
        size_t bytes;
    };

    void* take(const BlockClass& block_class, size_t bytes);
    void* ask_device(size_t bytes, int device);
    void* ask_device_twice(size_t bytes, int device);
    void count(int device, size_t bytes);
    void free_direct(void* pointer, const Direct& gone);
    [[noreturn]] void out_of_memory(size_t bytes, int device);

    Blocks blocks_;
    Pending<Block*> pending_;
    std::map<void*, Direct> direct_;           // allocated without the cache
    std::vector<void*> postponed_;             // postponed frees (set_frees_later)
    std::atomic<bool> any_postponed_ = false;  // read without the mutex
    std::mutex
        empty_cache_mutex_;  // a second caller waits until the first has freed the memory
};

// Never destroyed: tensors may outlive the end of main.
Allocator& allocator() {
    static auto* const one = new Allocator;
    return *one;
}

void* Allocator::allocate(size_t bytes, int device, cudaStream_t stream) {
    if (bytes == 0) return nullptr;
    free_postponed();
    const DeviceGuard guard(device);
    const bool possible = bytes <= kMaxBytes;  // otherwise rounding up may overflow
    const size_t size = possible ? block_bytes(bytes) : 0;
    const BlockClass block_class = {device, stream, size <= kSmallBytes};
    bool direct = false;
    {
        const std::lock_guard lock(mutex);
        ++stats[device].requests;
        direct = !caching();
        void* const kept = possible && !direct ? take(block_class, size) : nullptr;
        if (kept != nullptr) return kept;
    }
    if (!possible) out_of_memory(bytes, device);
    if (direct) {
        void* const pointer = ask_device_twice(bytes, device);
        const std::lock_guard lock(mutex);
        direct_[pointer] = {device, bytes};
        count(device, bytes);
        return pointer;
    }
    const size_t bytes_of_segment = segment_bytes(size);
    void* const segment = ask_device_twice(bytes_of_segment, device);
    const std::lock_guard lock(mutex);
    blocks_.add_segment(block_class, segment, bytes_of_segment);
    return take(block_class, size);
}

// Returns a free block. If there is none, first frees the pending blocks whose events are
// complete. Returns null if no block is large enough. REQUIRES: the mutex is held.
void* Allocator::take(const BlockClass& block_class, size_t bytes) {
    Block* block = blocks_.take(block_class, bytes);
    if (block == nullptr && !pending_.empty()) {
        pending_.process([&](Block* each) { blocks_.release(each); });
        block = blocks_.take(block_class, bytes);
    }
    if (block == nullptr) return nullptr;
    count(block_class.device, block->bytes);
    return block->pointer;
}

// REQUIRES: the mutex is held.
void Allocator::count(int device, size_t bytes) {
    MemoryStats& mine = stats[device];
    mine.allocated += bytes;
    mine.peak = std::max(mine.peak, mine.allocated);
}

// Calls cudaMalloc; returns null if the device does not have enough memory. REQUIRES: the
// device is current.
void* Allocator::ask_device(size_t bytes, int device) {
    void* pointer = nullptr;
    const cudaError_t code = cudaMalloc(&pointer, bytes);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // handled here: clear it for the next check
        return nullptr;
    }
    check(code, "cudaMalloc");
    const std::lock_guard lock(mutex);
    stats[device].reserved += bytes;
    ++stats[device].device_calls;
    return pointer;
}

void* Allocator::ask_device_twice(size_t bytes, int device) {
    void* pointer = ask_device(bytes, device);
    if (pointer != nullptr) return pointer;
    {
        const std::lock_guard lock(mutex);
        ++stats[device].retries;
    }
    empty_cache(device);
    pointer = ask_device(bytes, device);
    if (pointer == nullptr) out_of_memory(bytes, device);
    return pointer;
}

void Allocator::empty_cache(int device) {
    free_postponed();
    const std::lock_guard alone(empty_cache_mutex_);
    const DeviceGuard guard(device);
    std::vector<EventList> pending_events;
    {
        const std::lock_guard lock(mutex);
        pending_events = pending_.events();
    }
    for (const EventList& events : pending_events)
        for (const Event& event : *events) event.synchronize();

    std::vector<std::pair<void*, size_t>> segments;
    {
        const std::lock_guard lock(mutex);
        pending_.process([&](Block* each) { blocks_.release(each); });
        segments = blocks_.remove_free_segments(device);
    }
    for (const auto& [pointer, bytes] : segments) {
        check(cudaFree(pointer), "cudaFree");
        const std::lock_guard lock(mutex);
        stats[device].reserved -= bytes;
    }
}

void Allocator::out_of_memory(size_t bytes, int device) {
    const auto number = [](size_t count) {
        return with_commas(static_cast<int64_t>(count));
    };
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    const std::lock_guard lock(mutex);
    const MemoryStats& mine = stats[device];
    throw CudaError(
        concat("device ", device, " is out of memory: ", number(bytes),
               " bytes requested, ", number(free), " of ", number(total),
               " free; this process has allocated ", number(mine.allocated),
               " and has reserved ", number(mine.reserved - mine.allocated),
               " more in unused pieces; use a smaller batch, free tensors and call "
               "empty_cache(), or check whether another process uses this device"));
}

void Allocator::deallocate(void* pointer) {
    std::unique_lock lock(mutex);
    Block* const block = blocks_.find(pointer);
    const auto found = direct_.find(pointer);
    const bool waits =
        found != direct_.end() || (block != nullptr && !block->other_streams.empty());
    if (waits && frees_later()) {
        postponed_.push_back(pointer);
        any_postponed_ = true;
        return;
    }
    if (found != direct_.end()) {
        const Direct gone = found->second;
        direct_.erase(found);
        stats[gone.device].allocated -= gone.bytes;
        lock.unlock();
        return free_direct(pointer, gone);
    }
    if (block == nullptr || block->pointer != pointer) return;
    stats[block->block_class.device].allocated -= block->bytes;
    if (block->other_streams.empty()) return blocks_.release(block);
    const auto streams = std::move(block->other_streams);
    lock.unlock();  // cudaEventRecord blocks while the stream is full
    const DeviceGuard guard(block->block_class.device);
    EventList events = record_events(block->block_class.device, streams);
    lock.lock();
    pending_.add(block, std::move(events));
}

// Carries out the postponed frees, unless this thread itself postpones frees.
void Allocator::free_postponed() {
    if (frees_later() || !any_postponed_) return;
    std::vector<void*> left;
    {
        const std::lock_guard lock(mutex);
        left.swap(postponed_);
        any_postponed_ = false;
    }
    for (void* const pointer : left) deallocate(pointer);
}

void Allocator::free_direct(void* pointer, const Direct& gone) {
    const DeviceGuard guard(gone.device);
    cudaFree(pointer);
    const std::lock_guard lock(mutex);
    stats[gone.device].reserved -= gone.bytes;
}

bool Allocator::record_stream(void* pointer, cudaStream_t stream) {
    const std::lock_guard lock(mutex);
    Block* const block = blocks_.find(pointer);
    if (block == nullptr) return direct_.contains(pointer);
    auto& streams = block->other_streams;
    if (stream != block->block_class.stream &&
        std::find(streams.begin(), streams.end(), stream) == streams.end())
        streams.push_back(stream);
    return true;
}

}  // namespace

void* allocate(size_t bytes, int device, cudaStream_t stream) {
    return allocator().allocate(bytes, device, stream);
}

void deallocate(void* pointer) noexcept {
    if (pointer == nullptr) return;
    try {
        allocator().free_postponed();
        allocator().deallocate(pointer);
    } catch (const CudaError&) {
        // The device has failed: it can be neither queried nor used again.
    }
}

void record_stream(void* pointer, cudaStream_t stream) {
    if (pointer == nullptr || allocator().record_stream(pointer, stream)) return;
    record_pinned(pointer, stream);
}

MemoryStats memory_stats(int device) {
    const std::lock_guard lock(allocator().mutex);
    return allocator().stats[device];
}

void reset_peak_memory_stats(int device) {
    const std::lock_guard lock(allocator().mutex);
    MemoryStats& mine = allocator().stats[device];
    mine.peak = mine.allocated;
}

void empty_cache(int device) { allocator().empty_cache(device); }

}  // namespace mini::cuda
