#include "libmini/extras/cudasim/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

// Returns the size of the range that an allocation and the red zone after it occupy.
size_t slot_bytes(size_t bytes) {
    return (bytes + kRedZoneBytes + kAlignment - 1) / kAlignment * kAlignment;
}

// One address range, and its allocations.
class Memory {
  public:
    Memory(Region region, int device, size_t total)
        : region_(region),
          device_(device),
          total_(total),
          next_(region.base + kAlignment) {}

    std::byte* allocate(size_t bytes, uint64_t id, const void* call, bool managed) {
        if (bytes > total_ - std::min(used_, total_)) return nullptr;
        std::byte* const begin = take(slot_bytes(bytes));
        if (begin == nullptr) return nullptr;
        allocations_[begin] = {begin, bytes, id, device_, call, nullptr, managed};
        used_ += bytes;
        return begin;
    }

    void free(Allocation& allocation, const void* call) {
        allocation.freed = true;
        allocation.freed_by = call;
        used_ -= allocation.bytes;
        madvise(allocation.begin, slot_bytes(allocation.bytes), MADV_DONTNEED);
    }

    // Returns the allocation at or before an address, or null.
    Allocation* find(const void* pointer) {
        auto after =
            allocations_.upper_bound(static_cast<std::byte*>(const_cast<void*>(pointer)));
        return after == allocations_.begin() ? nullptr : &std::prev(after)->second;
    }

    size_t used() const { return used_; }

  private:
    // Returns addresses that were never used if enough are left, else the first that lie
    // between living allocations, else null.
    std::byte* take(size_t bytes) {
        std::byte* const end = region_.base + region_.bytes;
        if (static_cast<size_t>(end - next_) >= bytes) {
            if (mprotect(next_, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
            return std::exchange(next_, next_ + bytes);
        }
        std::erase_if(allocations_, [](const auto& each) { return each.second.freed; });
        std::byte* begin = region_.base + kAlignment;
        for (const auto& [at, each] : allocations_) {
            if (static_cast<size_t>(at - begin) >= bytes) return begin;
            begin = at + slot_bytes(each.bytes);
        }
        return static_cast<size_t>(next_ - begin) >= bytes ? begin : nullptr;
    }

    Region region_;
    int device_;
    size_t total_;
    size_t used_ = 0;
    std::byte* next_;  // addresses from here on were never allocated, nor accessible
    std::map<std::byte*, Allocation> allocations_;
};

struct Memories {
    Memories() {
        const auto count = static_cast<size_t>(device_count()) + 1;
        all.bytes = count * kRegionBytes;
        void* const base = mmap(nullptr, all.bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        MINI_CHECK(base != MAP_FAILED, "simulated devices: ", all.bytes,
                   " bytes of address space: ", system_message("mmap", errno),
                   "; lower MINI_SIM_DEVICES or raise ulimit -v");
        all.base = static_cast<std::byte*>(base);
        for (size_t i = 0; i < count; ++i) {
            const int device = i + 1 < count ? static_cast<int>(i) : kPinned;
            memories.emplace_back(Region{all.base + i * kRegionBytes, kRegionBytes},
                                  device,
                                  device == kPinned ? kRegionBytes / 2 : kDeviceBytes);
        }
    }

    Memory& of(int device) {
        return device < 0 ? memories.back() : memories[static_cast<size_t>(device)];
    }

    Region all;
    std::shared_mutex mutex;  // guards the two members below
    std::vector<Memory> memories;
    uint64_t last_id = 0;
};

// Never destroyed: operations and threads may outlive main.
Memories& memories() {
    static auto* const all = new Memories;
    return *all;
}

}  // namespace

int device_count() {
    static const auto count = static_cast<int>(setting("MINI_SIM_DEVICES", 4, 0, 64));
    return count;
}

Region all_memory() { return memories().all; }

int device_of(const void* pointer) {
    const Region all = all_memory();
    if (!all.contains(pointer)) return kPageable;
    const auto offset =
        static_cast<size_t>(static_cast<const std::byte*>(pointer) - all.base);
    const auto index = static_cast<int>(offset / kRegionBytes);
    return index < device_count() ? index : kPinned;
}

Allocation find_allocation(const void* pointer) {
    const int device = device_of(pointer);
    if (device == kPageable) return {};
    Memories& all = memories();
    const std::shared_lock lock(all.mutex);
    const Allocation* const found = all.of(device).find(pointer);
    return found == nullptr ? Allocation{} : *found;
}

uint64_t last_allocation() {
    const std::shared_lock lock(memories().mutex);
    return memories().last_id;
}

std::byte* allocate_memory(size_t bytes, int device, bool managed) {
    const void* const call = is_inspected() && !in_kernel() ? calling_place() : nullptr;
    Memories& all = memories();
    std::unique_lock lock(all.mutex);
    std::byte* const begin =
        all.of(device).allocate(bytes, all.last_id + 1, call, managed);
    if (begin == nullptr) return nullptr;
    const Allocation made = *all.of(device).find(begin);
    ++all.last_id;
    lock.unlock();
    if (is_inspected()) tell::allocated_or_freed(made);
    return begin;
}

bool free_memory(void* pointer) {
    const int device = device_of(pointer);
    if (device == kPageable) return false;
    const void* const call = is_inspected() && !in_kernel() ? calling_place() : nullptr;
    Memories& all = memories();
    std::unique_lock lock(all.mutex);
    Allocation* const found = all.of(device).find(pointer);
    if (found == nullptr || found->begin != pointer || found->freed) return false;
    all.of(device).free(*found, call);
    const Allocation gone = *found;
    lock.unlock();
    if (is_inspected()) tell::allocated_or_freed(gone);
    return true;
}

size_t used_memory(int device) {
    const std::shared_lock lock(memories().mutex);
    return memories().of(device).used();
}

}  // namespace mini::sim
