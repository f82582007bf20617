#include "libmini/extras/cudasim/memory_map.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/report.hpp"

namespace mini::sim {

std::string name(const Allocation& allocation) {
    return concat(
        "allocation ", allocation.id,
        allocation.call == nullptr ? "" : concat(", made at ", line_of(allocation.call)));
}

const Allocation& MemoryMap::allocation_at(uintptr_t at) {
    if (memory_changed_ && memory_changed_.exchange(false)) recent_.clear();
    const auto* const pointer = reinterpret_cast<const void*>(at);
    for (const Allocation& each : recent_)
        if (each.contains(pointer, 1)) return each;
    if (recent_.size() >= 8) recent_.erase(recent_.begin());
    return recent_.emplace_back(find_allocation(pointer).value_or(Allocation{}));
}

const SharedArray* MemoryMap::array_before(uintptr_t at) const {
    const auto& arrays = shared_arrays();
    const auto after =
        std::ranges::upper_bound(arrays, variables.offset(at), {}, &SharedArray::offset);
    return after == arrays.begin() ? nullptr : &*std::prev(after);
}

std::string MemoryMap::describe(uintptr_t at, bool shared) {
    if (!shared) {
        const Allocation& allocation = allocation_at(at);
        return concat("byte ", at - reinterpret_cast<uintptr_t>(allocation.begin), " of ",
                      name(allocation), " (", allocation.bytes, " bytes)");
    }
    if (variables.offset(at) >= variables.bytes)
        return concat("byte ", dynamic.offset(at), " of the dynamic shared memory");
    const SharedArray* const array = array_before(at);
    if (array == nullptr) return "shared memory";
    return concat("byte ", variables.offset(at) - array->offset, " of the shared array ",
                  array->name,
                  array->function == kernel ? "" : concat(" of ", array->function));
}

}  // namespace mini::sim
