#include "libmini/kernels/cuda/allocator.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/kernels/cuda/blocks.hpp"
#include "libmini/kernels/cuda/pending.hpp"
#include "libmini/kernels/cuda/pinned.hpp"
#include "libmini/kernels/cuda/relaxed_capture.hpp"

namespace mini::cuda {
namespace {

constexpr size_t kMostBytes = std::numeric_limits<size_t>::max() / 2;

bool caching_at_first() {
    const char* const text = std::getenv("MINI_CUDA_CACHING");
    return text == nullptr || std::string(text) != "0";
}

// Where this thread's allocations on a device come from; 0 is everyone's memory.
thread_local int pool_device = -1;
thread_local uint64_t thread_pool = 0;

class Allocator {
  public:
    void* allocate(size_t bytes, int device, cudaStream_t stream);
    void deallocate(void* pointer);
    bool record_stream(void* pointer, cudaStream_t stream);
    void empty_cache(int device);
    void dissolve(uint64_t pool);

    std::mutex mutex;  // guards all that follows; public methods take it
    bool caching = caching_at_first();
    std::map<int, MemoryStats> stats;
    uint64_t last_pool = 0;

  private:
    struct Direct {
        int device;
        size_t bytes;
    };

    Block* take(const BlockClass& of, size_t bytes);
    void* ask_device(size_t bytes, int device);
    void* ask_device_twice(size_t bytes, int device);
    void give_back(int device);
    void count(int device, size_t bytes);
    [[noreturn]] void out_of_memory(size_t bytes, int device);

    Blocks blocks_;
    Pending<Block*> pending_;
    std::map<void*, Direct> direct_;  // allocated without the cache
};

// Never destroyed: tensors may outlive the end of main.
Allocator& allocator() {
    static auto* const one = new Allocator;
    return *one;
}

void* Allocator::allocate(size_t bytes, int device, cudaStream_t stream) {
    if (bytes == 0) return nullptr;
    const std::lock_guard lock(mutex);
    const DeviceGuard guard(device);
    ++stats[device].requests;
    if (bytes > kMostBytes) out_of_memory(bytes, device);  // rounding up would overflow
    const uint64_t pool = device == pool_device ? thread_pool : 0;
    if (!caching && pool == 0) {  // a graph's pool must keep its memory
        void* const pointer = ask_device_twice(bytes, device);
        direct_[pointer] = {device, bytes};
        count(device, bytes);
        return pointer;
    }

    // Try what is free, then what has become free, then the device.
    const size_t size = block_bytes(bytes);
    const BlockClass of = {device, stream, pool, size <= kSmallBytes};
    Block* block = blocks_.take(of, size);
    if (block == nullptr && pool == 0 && !pending_.empty()) {
        const RelaxedCapture relaxed;
        pending_.process(false, [&](Block* each) { blocks_.release(each); });
        block = blocks_.take(of, size);
    }
    if (block == nullptr) {
        const size_t segment = segment_bytes(size);
        blocks_.add_segment(of, ask_device_twice(segment, device), segment);
        block = blocks_.take(of, size);
    }
    count(device, block->bytes);
    return block->pointer;
}

void Allocator::count(int device, size_t bytes) {
    MemoryStats& mine = stats[device];
    mine.allocated += bytes;
    mine.peak = std::max(mine.peak, mine.allocated);
}

// Null where the device has not so much. REQUIRES: the device is current.
void* Allocator::ask_device(size_t bytes, int device) {
    const RelaxedCapture relaxed;
    void* pointer = nullptr;
    const cudaError_t code = cudaMalloc(&pointer, bytes);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // dealt with here: do not leave it for the next check
        return nullptr;
    }
    check(code, "cudaMalloc");
    stats[device].reserved += bytes;
    ++stats[device].device_calls;
    return pointer;
}

void* Allocator::ask_device_twice(size_t bytes, int device) {
    void* pointer = ask_device(bytes, device);
    if (pointer != nullptr) return pointer;
    ++stats[device].retries;
    give_back(device);
    pointer = ask_device(bytes, device);
    if (pointer == nullptr) out_of_memory(bytes, device);
    return pointer;
}

void Allocator::give_back(int device) {
    const DeviceGuard guard(device);
    const RelaxedCapture relaxed;
    pending_.process(true, [&](Block* each) { blocks_.release(each); });
    for (const auto& [pointer, bytes] : blocks_.remove_free_segments(device)) {
        check(cudaFree(pointer), "cudaFree");
        stats[device].reserved -= bytes;
    }
}

void Allocator::out_of_memory(size_t bytes, int device) {
    const auto number = [](size_t count) {
        return with_commas(static_cast<int64_t>(count));
    };
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    const MemoryStats& mine = stats[device];
    throw CudaError(concat(
        "device ", device, " is out of memory: ", number(bytes), " bytes asked for, ",
        number(free), " of ", number(total), " free; this process has allocated ",
        number(mine.allocated), " and keeps ", number(mine.reserved - mine.allocated),
        " more in pieces; use a smaller batch, or free tensors and empty_cache(), or see "
        "whether another process uses this device"));
}

void Allocator::deallocate(void* pointer) {
    const std::lock_guard lock(mutex);
    if (const auto found = direct_.find(pointer); found != direct_.end()) {
        const Direct gone = found->second;
        direct_.erase(found);
        stats[gone.device].allocated -= gone.bytes;
        stats[gone.device].reserved -= gone.bytes;
        const DeviceGuard guard(gone.device);
        const RelaxedCapture relaxed;
        cudaFree(pointer);
        return;
    }
    Block* const block = blocks_.find(pointer);
    if (block == nullptr || block->pointer != pointer) return;
    stats[block->of.device].allocated -= block->bytes;
    if (block->other_streams.empty()) {
        blocks_.release(block);
    } else if (block->of.pool == 0) {
        const DeviceGuard guard(block->of.device);
        pending_.add(block, block->of.device, block->other_streams);
    } else {
        block->ends_with_pool = true;  // the events of a capture cannot be asked
    }
}

bool Allocator::record_stream(void* pointer, cudaStream_t stream) {
    const std::lock_guard lock(mutex);
    Block* const block = blocks_.find(pointer);
    if (block == nullptr) return direct_.contains(pointer);
    auto& streams = block->other_streams;
    if (stream != block->of.stream &&
        std::find(streams.begin(), streams.end(), stream) == streams.end())
        streams.push_back(stream);
    return true;
}

void Allocator::empty_cache(int device) {
    const std::lock_guard lock(mutex);
    give_back(device);
}

void Allocator::dissolve(uint64_t pool) {
    const std::lock_guard lock(mutex);
    blocks_.dissolve(pool);
}

}  // namespace

void* allocate(size_t bytes, int device, cudaStream_t stream) {
    return allocator().allocate(bytes, device, stream);
}

void deallocate(void* pointer) noexcept {
    if (pointer == nullptr) return;
    try {
        allocator().deallocate(pointer);
    } catch (const CudaError&) {
        // The device has failed: it can neither be asked nor used again.
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

bool caching() {
    const std::lock_guard lock(allocator().mutex);
    return allocator().caching;
}

void set_caching(bool on) {
    const std::lock_guard lock(allocator().mutex);
    allocator().caching = on;
}

GraphPool::GraphPool(int device) : device_(device) {
    const std::lock_guard lock(allocator().mutex);
    id_ = ++allocator().last_pool;
}

GraphPool::~GraphPool() {
    try {
        synchronize(device_);
    } catch (const Error&) {  // the device is lost, and nothing runs on it
    }
    allocator().dissolve(id_);
}

GraphPool::Scope::Scope(const GraphPool& pool)
    : device_before_(std::exchange(pool_device, pool.device_)),
      pool_before_(std::exchange(thread_pool, pool.id_)) {}

GraphPool::Scope::~Scope() {
    pool_device = device_before_;
    thread_pool = pool_before_;
}

}  // namespace mini::cuda
