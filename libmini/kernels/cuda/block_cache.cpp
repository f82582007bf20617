#include "libmini/kernels/cuda/block_cache.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

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

}  // namespace

size_t block_bytes(size_t bytes) {
    const size_t step = std::max(kMinStep, std::bit_floor(bytes) / 8);
    return (bytes + step - 1) / step * step;
}

bool caching() { return is_caching(); }
void set_caching(bool on) { is_caching() = on; }
bool set_frees_later(bool on) { return std::exchange(postpones_frees, on); }

void* BlockCache::allocate(size_t bytes, int device, cudaStream_t stream) {
    free_postponed();
    if (bytes > kMaxBytes) return nullptr;  // rounding up may overflow
    const bool cached = caching();
    const List list = {device, stream, cached ? block_bytes(bytes) : bytes};
    {
        const std::lock_guard lock(mutex_);
        ++stats_[device].requests;
        void* const kept = cached ? take(list) : nullptr;
        if (kept != nullptr) return kept;
    }

    void* pointer = allocate_from_driver(list.bytes, device);
    if (pointer == nullptr) {
        {
            const std::lock_guard lock(mutex_);
            ++stats_[device].retries;
        }
        empty(device);
        pointer = allocate_from_driver(list.bytes, device);
        if (pointer == nullptr) return nullptr;
    }
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<std::byte*>(pointer)] = {.list = list, .cached = cached};
    stats_[device].reserved += list.bytes;
    ++stats_[device].device_calls;
    count(list);
    return pointer;
}

bool BlockCache::is_idle(const Block& block) {
    return std::all_of(block.events.begin(), block.events.end(),
                       [](const auto& event) { return event->query(); });
}

// Takes the block, among those that no work uses, that was freed last; returns null if there is none. REQUIRES: the
// mutex is held.
void* BlockCache::take(const List& list) {
    auto& free = free_[list];
    const auto found = std::find_if(free.rbegin(), free.rend(), [&](std::byte* each) {
        return is_idle(blocks_[each]);
    });
    if (found == free.rend()) return nullptr;
    std::byte* const pointer = *found;
    free.erase(std::next(found).base());
    blocks_[pointer].used = true;
    blocks_[pointer].events.clear();
    count(list);
    return pointer;
}

// REQUIRES: the mutex is held.
void BlockCache::count(const List& list) {
    MemoryStats& mine = stats_[list.device];
    mine.allocated += list.bytes;
    mine.peak = std::max(mine.peak, mine.allocated);
}

void BlockCache::deallocate(void* pointer) {
    free_postponed();
    free(pointer);
}

// Carries out the postponed frees, unless this thread itself postpones frees.
void BlockCache::free_postponed() {
    if (postpones_frees) return;
    std::vector<void*> left;
    {
        const std::lock_guard lock(mutex_);
        left.swap(postponed_);
    }
    for (void* const pointer : left) free(pointer);
}

void BlockCache::free(void* pointer) {
    std::unique_lock lock(mutex_);
    const auto found = blocks_.find(static_cast<std::byte*>(pointer));
    if (found == blocks_.end() || !found->second.used) return;
    Block& block = found->second;
    if (postpones_frees && (!block.cached || !block.other_streams.empty()))
        return postponed_.push_back(pointer);

    block.used = false;
    stats_[block.list.device].allocated -= block.list.bytes;
    if (!block.cached) {
        const auto node = blocks_.extract(found);
        lock.unlock();
        return return_block(pointer, node.mapped());
    }
    const auto streams = std::exchange(block.other_streams, {});
    if (!streams.empty()) {
        lock.unlock();  // cudaEventRecord blocks while the stream is full
        Events events;
        for (cudaStream_t stream : streams) {
            Event event(block.list.device);
            event.record(stream);
            events.push_back(std::make_shared<const Event>(std::move(event)));
        }
        lock.lock();
        block.events = std::move(events);
    }
    free_[block.list].push_back(found->first);
}

void BlockCache::return_block(void* pointer, const Block& block) {
    for (const auto& event : block.events) event->synchronize();
    return_to_driver(pointer, block.list.device);
    const std::lock_guard lock(mutex_);
    stats_[block.list.device].reserved -= block.list.bytes;
}

void BlockCache::empty(int device) {
    free_postponed();
    const std::lock_guard alone(empty_mutex_);

    // Wait for the work that uses free blocks; other threads may take them meanwhile.
    Events events;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [list, free] : free_) {
            if (list.device != device) continue;
            for (std::byte* const each : free)
                for (const auto& event : blocks_[each].events) events.push_back(event);
        }
    }
    for (const auto& event : events) event->synchronize();

    Blocks idle;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [list, free] : free_) {
            if (list.device != device) continue;
            std::erase_if(free, [&](std::byte* each) {
                const bool is_free = is_idle(blocks_[each]);
                if (is_free) idle.insert(blocks_.extract(each));
                return is_free;
            });
        }
    }
    for (const auto& [pointer, block] : idle) return_block(pointer, block);
}

// Returns the block in use that contains an address, or null. REQUIRES: the mutex is
// held.
BlockCache::Block* BlockCache::find(const void* pointer) {
    auto* const address = static_cast<std::byte*>(const_cast<void*>(pointer));
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return nullptr;
    auto& [begin, block] = *std::prev(after);
    return block.used && address < begin + block.list.bytes ? &block : nullptr;
}

bool BlockCache::holds(const void* pointer) {
    const std::lock_guard lock(mutex_);
    return find(pointer) != nullptr;
}

bool BlockCache::record_stream(const void* pointer, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    Block* const block = find(pointer);
    if (block == nullptr) return false;
    auto& streams = block->other_streams;
    if (stream != block->list.stream &&
        std::find(streams.begin(), streams.end(), stream) == streams.end())
        streams.push_back(stream);
    return true;
}

void BlockCache::record_use(const void* pointer, int device, cudaStream_t stream) {
    Event use(device);
    use.record(stream);  // blocks while the stream is full
    const std::lock_guard lock(mutex_);
    Block* const block = find(pointer);
    if (block == nullptr) return;
    std::erase_if(block->events, [](const auto& event) { return event->query(); });
    block->events.push_back(std::make_shared<const Event>(std::move(use)));
}

MemoryStats BlockCache::stats(int device) {
    const std::lock_guard lock(mutex_);
    return stats_[device];
}

void BlockCache::reset_peak(int device) {
    const std::lock_guard lock(mutex_);
    stats_[device].peak = stats_[device].allocated;
}

}  // namespace mini::cuda
