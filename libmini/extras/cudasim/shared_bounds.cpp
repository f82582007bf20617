#include "libmini/extras/cudasim/shared_bounds.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::sim {
namespace {

uintptr_t begin_of(std::span<std::byte> memory) {
    return reinterpret_cast<uintptr_t>(memory.data());
}

}  // namespace

SharedBounds::Result SharedBounds::check(const MemoryAccess& access) {
    const uintptr_t at = access.at();
    const size_t bytes = access.bytes;
    if (at - begin_of(memory_.variables()) >= memory_.variables().size()) {
        const size_t place = at - begin_of(memory_.dynamic());
        const size_t size = memory_.dynamic().size();
        return place >= size || bytes > size - place ? Result::kOutside : Result::kInside;
    }
    Permitted& recent =
        recent_[reinterpret_cast<uintptr_t>(access.address) % recent_.size()];
    if (recent.address == access.address && at >= recent.begin &&
        at + bytes <= recent.begin + recent.bytes)
        return Result::kInside;
    const SharedArray* const array = memory_.array_at(at);
    const bool strayed = strays(array, access.address);
    if (array == nullptr)
        return strayed || access.mode != Mode::kRead ? Result::kOutside
                                                     : Result::kOtherVariable;
    const uintptr_t begin = begin_of(memory_.variables()) + array->offset;
    if (strayed || at + bytes > begin + array->bytes) return Result::kOutside;
    recent = {access.address, begin, array->bytes};
    array_of_.emplace(access.address, array);
    return Result::kInside;
}

// Returns whether an instruction accesses no array, or an array of another function than
// the array that it accessed first. The first array must be declared in a function that
// the instruction is compiled from, if their names are known.
bool SharedBounds::strays(const SharedArray* array, const void* address) const {
    const auto known = array_of_.find(address);
    if (known != array_of_.end())
        return array == nullptr || array->function != known->second->function;
    const std::string& kernel = execution_.name();
    if (array == nullptr || array->function == kernel ||
        short_name(function_at(address)) != kernel)
        return false;
    const auto& functions = inlined_at(address);
    if (!functions.empty() && functions.front().empty()) return false;
    return std::find(functions.begin(), functions.end(), array->function) ==
           functions.end();
}

std::string SharedBounds::describe_outside(const MemoryAccess& access) const {
    const uintptr_t at = access.at();
    const uintptr_t base = begin_of(memory_.variables());
    if (at - base >= memory_.variables().size())
        return concat("at byte ", static_cast<int64_t>(at - begin_of(memory_.dynamic())),
                      " of the dynamic shared memory, which has ",
                      memory_.dynamic().size(), " bytes: request more in the launch");
    const SharedArray* const nearest = nearest_array(at, access.address);
    if (nearest == nullptr) return "outside of every shared array";
    return concat("at byte ",
                  static_cast<int64_t>(at - base) - static_cast<int64_t>(nearest->offset),
                  " of the shared array ", nearest->name, ", which has ", nearest->bytes,
                  " bytes");
}

// Returns the array that the instruction accessed first, else the kernel's array nearest
// to `at`, else null.
const SharedArray* SharedBounds::nearest_array(uintptr_t at, const void* address) const {
    const auto known = array_of_.find(address);
    if (known != array_of_.end()) return known->second;
    const auto distance = [&](const SharedArray& array) {
        const auto offset = static_cast<int64_t>(at - begin_of(memory_.variables()));
        const auto begin = static_cast<int64_t>(array.offset);
        return offset < begin ? begin - offset
                              : offset - begin - static_cast<int64_t>(array.bytes) + 1;
    };
    const SharedArray* nearest = nullptr;
    for (const SharedArray& array : shared_arrays())
        if (array.function == execution_.name() &&
            (nearest == nullptr || distance(array) < distance(*nearest)))
            nearest = &array;
    return nearest;
}

}  // namespace mini::sim
