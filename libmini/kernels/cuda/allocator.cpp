#include "libmini/kernels/cuda/allocator.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {
namespace {

constexpr size_t kMinStep = 512;  // between two size classes
constexpr size_t kMaxBytes = std::numeric_limits<size_t>::max() / 2;

bool caching_at_first() {
    const char* const text = std::getenv("MINI_CUDA_CACHING");
    return text == nullptr || std::string(text) != "0";
}

std::atomic<bool>& is_caching() {
    static std::atomic<bool> caching = caching_at_first();
    return caching;
}

thread_local bool postpones_frees = false;

// Calls the driver; returns null if there is not enough memory.
void* allocate_from_driver(size_t bytes, int device) {
    const bool is_host = device == kHost;
    const DeviceGuard guard(is_host ? open_device() : device);  // any device works
    void* pointer = nullptr;
    const cudaError_t code =
        is_host ? cudaMallocHost(&pointer, bytes) : cudaMalloc(&pointer, bytes);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // handled by the caller: clear it for the next check
        return nullptr;
    }
    check(code, is_host ? "cudaMallocHost" : "cudaMalloc");
    return pointer;
}

struct List {  // of free blocks
    int device = 0;
    cudaStream_t stream = nullptr;
    size_t bytes = 0;

    auto operator<=>(const List&) const = default;
};

struct Block {
    List list;
    bool cached = false, used = true;
    // To be complete before the block is reused. Shared, so that a thread can wait for an
    // event while another thread takes the block.
    std::vector<std::shared_ptr<const Event>> events = {};

    bool is_idle() const {
        return std::all_of(events.begin(), events.end(),
                           [](const auto& event) { return event->query(); });
    }

    // Returns the memory to the driver, when no work uses it any more.
    void give_back(void* pointer) const {
        for (const auto& event : events) event->synchronize();
        if (list.device == kHost) {
            const DeviceGuard guard(open_device());
            check(cudaFreeHost(pointer), "cudaFreeHost");
        } else {
            const DeviceGuard guard(list.device);
            check(cudaFree(pointer), "cudaFree");
        }
    }
};

struct Cache {
    // Not held during calls that may wait for the device. If a peer is lost, the device's
    // work ends only after a thread aborts the communication, and this thread frees
    // tensors, for which it needs the mutex.
    std::mutex mutex;
    std::map<std::byte*, Block> blocks;  // by address
    std::map<List, std::vector<std::byte*>> free;
    std::vector<void*> postponed;  // postponed frees (set_frees_later)
    std::map<int, MemoryStats> stats;
    // A second caller of empty_cache waits until the first has freed the memory.
    std::mutex empty_mutex;

    // The functions REQUIRE: the mutex is held.

    // Counts an allocation, and returns its address.
    void* hand_out(const List& list, void* pointer) {
        stats[list.device].allocated += list.bytes;
        return pointer;
    }

    // Takes the block, among those that no work uses, that was freed last; returns null if
    // there is none.
    void* take(const List& list) {
        auto& kept = free[list];
        const auto found = std::find_if(kept.rbegin(), kept.rend(), [&](std::byte* each) {
            return blocks[each].is_idle();
        });
        if (found == kept.rend()) return nullptr;
        std::byte* const pointer = *found;
        kept.erase(std::next(found).base());
        blocks[pointer].used = true;
        blocks[pointer].events.clear();
        return hand_out(list, pointer);
    }

    // Returns the block in use that contains an address, or null.
    Block* find(const void* pointer) {
        auto* const address = static_cast<std::byte*>(const_cast<void*>(pointer));
        const auto after = blocks.upper_bound(address);
        if (after == blocks.begin()) return nullptr;
        auto& [begin, block] = *std::prev(after);
        return block.used && address < begin + block.list.bytes ? &block : nullptr;
    }
};

// Never destroyed: tensors may outlive the end of main.
Cache& cache() {
    static auto* const one = new Cache;
    return *one;
}

void give_back(void* pointer, const Block& block) {
    block.give_back(pointer);
    const std::lock_guard lock(cache().mutex);
    cache().stats[block.list.device].reserved -= block.list.bytes;
}

void free_block(void* pointer) {
    Cache& c = cache();
    std::unique_lock lock(c.mutex);
    const auto found = c.blocks.find(static_cast<std::byte*>(pointer));
    if (found == c.blocks.end() || !found->second.used) return;
    Block& block = found->second;
    if (postpones_frees && !block.cached) return c.postponed.push_back(pointer);

    block.used = false;
    c.stats[block.list.device].allocated -= block.list.bytes;
    if (block.cached) return c.free[block.list].push_back(found->first);
    const auto node = c.blocks.extract(found);
    lock.unlock();
    give_back(pointer, node.mapped());
}

// Carries out the postponed frees, unless this thread itself postpones frees.
void free_postponed() {
    if (postpones_frees) return;
    std::vector<void*> left;
    {
        const std::lock_guard lock(cache().mutex);
        left.swap(cache().postponed);
    }
    for (void* const pointer : left) free_block(pointer);
}

// Returns a block of the list. If the driver has no more memory, empties the cache and
// tries again; then returns null.
void* allocate_block(size_t bytes, int device, cudaStream_t stream) {
    free_postponed();
    if (bytes > kMaxBytes) return nullptr;  // rounding up may overflow
    Cache& c = cache();
    const bool cached = caching();
    const List list = {device, stream, cached ? block_bytes(bytes) : bytes};
    {
        const std::lock_guard lock(c.mutex);
        void* const kept = cached ? c.take(list) : nullptr;
        if (kept != nullptr) return kept;
    }

    void* pointer = allocate_from_driver(list.bytes, device);
    if (pointer == nullptr) {
        {
            const std::lock_guard lock(c.mutex);
            ++c.stats[device].retries;
        }
        empty_cache(device);
        pointer = allocate_from_driver(list.bytes, device);
        if (pointer == nullptr) return nullptr;
    }
    const std::lock_guard lock(c.mutex);
    c.blocks[static_cast<std::byte*>(pointer)] = {.list = list, .cached = cached};
    c.stats[device].reserved += list.bytes;
    ++c.stats[device].device_calls;
    return c.hand_out(list, pointer);
}

[[noreturn]] void out_of_memory(size_t bytes, int device) {
    const auto number = [](size_t count) {
        return with_commas(static_cast<int64_t>(count));
    };
    const auto [free, total] = memory_info(device);
    const MemoryStats mine = memory_stats(device);
    throw CudaError("device ", device, " is out of memory: ", number(bytes),
                    " bytes requested, ", number(free), " of ", number(total),
                    " free; this process has allocated ", number(mine.allocated),
                    " and has reserved ", number(mine.reserved - mine.allocated),
                    " more in unused blocks; use a smaller batch, free tensors and call "
                    "empty_cache(), or check whether another process uses this device");
}

}  // namespace

MemoryInfo memory_info(int device) {
    const DeviceGuard guard(device);
    MemoryInfo info;
    check(cudaMemGetInfo(&info.free, &info.total), "cudaMemGetInfo");
    return info;
}

size_t block_bytes(size_t bytes) {
    const size_t step = std::max(kMinStep, std::bit_floor(bytes) / 8);
    return (bytes + step - 1) / step * step;
}

bool caching() { return is_caching(); }
void set_caching(bool on) { is_caching() = on; }
bool set_frees_later(bool on) { return std::exchange(postpones_frees, on); }

void* allocate(size_t bytes, int device, cudaStream_t stream) {
    if (bytes == 0) return nullptr;
    void* const pointer = allocate_block(bytes, device, stream);
    if (pointer == nullptr) out_of_memory(bytes, device);
    return pointer;
}

void* allocate_pinned(size_t bytes) {
    if (bytes == 0) return nullptr;
    void* const pointer = allocate_block(bytes, kHost, nullptr);
    if (pointer == nullptr) check(cudaErrorMemoryAllocation, "cudaMallocHost");
    return pointer;
}

void deallocate(void* pointer) noexcept {
    if (pointer == nullptr) return;
    try {
        free_postponed();
        free_block(pointer);
    } catch (const CudaError&) {
        // The device has failed: it can be neither queried nor used again.
    }
}

bool is_pinned(const void* pointer) {
    const std::lock_guard lock(cache().mutex);
    const Block* const block = cache().find(pointer);
    return block != nullptr && block->list.device == kHost;
}

void record_stream(const void* pointer, cudaStream_t stream) {
    Cache& c = cache();
    const int device = current_device();
    {
        const std::lock_guard lock(c.mutex);
        const Block* const block = c.find(pointer);
        if (block == nullptr) return;
        if (block->list.device == device && block->list.stream == stream) return;
    }
    Event use(device);
    use.record(stream);  // blocks while the stream is full
    const std::lock_guard lock(c.mutex);
    Block* const block = c.find(pointer);
    if (block == nullptr) return;
    std::erase_if(block->events, [](const auto& event) { return event->query(); });
    block->events.push_back(std::make_shared<const Event>(std::move(use)));
}

MemoryStats memory_stats(int device) {
    const std::lock_guard lock(cache().mutex);
    return cache().stats[device];
}

void empty_cache(int device) {
    Cache& c = cache();
    free_postponed();
    const std::lock_guard alone(c.empty_mutex);

    // Wait for the work that uses free blocks; other threads may take them meanwhile.
    std::vector<std::shared_ptr<const Event>> events;
    {
        const std::lock_guard lock(c.mutex);
        for (const auto& [pointer, block] : c.blocks)
            if (!block.used && block.list.device == device)
                events.insert(events.end(), block.events.begin(), block.events.end());
    }
    for (const auto& event : events) event->synchronize();

    std::map<std::byte*, Block> idle;
    {
        const std::lock_guard lock(c.mutex);
        for (auto& [list, free] : c.free) {
            if (list.device != device) continue;
            std::erase_if(free, [&](std::byte* each) {
                const bool is_free = c.blocks[each].is_idle();
                if (is_free) idle.insert(c.blocks.extract(each));
                return is_free;
            });
        }
    }
    for (const auto& [pointer, block] : idle) give_back(pointer, block);
}

}  // namespace mini::cuda
