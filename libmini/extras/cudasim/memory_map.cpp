#include "libmini/extras/cudasim/memory_map.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/memory.hpp"

namespace mini::sim {

void MemoryMap::allocated(const Allocation& allocation) {
    uint64_t none = 0;
    first_tracked_.compare_exchange_strong(none, allocation.id);
    memory_changed_ = true;
}

const MemoryMap::Target& MemoryMap::target_at(uintptr_t at) {
    if (memory_changed_ && memory_changed_.exchange(false)) recent_.clear();
    const auto* const pointer = reinterpret_cast<const void*>(at);
    for (const Target& each : recent_)
        if (each.allocation.contains(pointer, 1)) return each;
    Target found;
    found.allocation = find_allocation(pointer).value_or(Allocation{});
    const uint64_t first = first_tracked_;
    found.tracked =
        first != 0 && found.allocation.id >= first && found.allocation.device != kPinned;
    if (recent_.size() >= 8) recent_.erase(recent_.begin());
    return recent_.emplace_back(found);
}

const SharedArray* MemoryMap::array_at(uintptr_t at) const {
    const size_t offset = at - reinterpret_cast<uintptr_t>(variables.data());
    const auto& arrays = shared_arrays();
    auto after = std::ranges::upper_bound(arrays, offset, {}, &SharedArray::offset);
    if (after == arrays.begin()) return nullptr;
    --after;
    return offset - after->offset < after->bytes ? &*after : nullptr;
}

std::string MemoryMap::describe(uintptr_t at, bool shared) {
    if (!shared) {
        const Allocation allocation = target_at(at).allocation;
        return concat("byte ", at - reinterpret_cast<uintptr_t>(allocation.begin),
                      " of allocation ", allocation.id, " (", allocation.bytes,
                      " bytes)");
    }
    const auto base = reinterpret_cast<uintptr_t>(variables.data());
    if (at - base >= variables.size())
        return concat("byte ", at - reinterpret_cast<uintptr_t>(dynamic.data()),
                      " of the dynamic shared memory");
    const SharedArray* const array = array_at(at);
    if (array == nullptr) return "shared memory";
    return concat("byte ", at - base - array->offset, " of the shared array ",
                  array->name,
                  array->function == kernel ? "" : concat(" of ", array->function));
}

}  // namespace mini::sim
