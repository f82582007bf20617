// Counts the loads, stores and atomics of kernels, and checks whether the memory is
// accessible, whether it is initialised, and whether the access is ordered with the accesses
// of other threads.

#include <algorithm>
#include <cstdint>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/inspector.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

// An access at most this many bytes outside of the dynamic shared memory is reported as
// out of the bounds of this memory.
constexpr uintptr_t kNearShared = 4096;

// Describes an address that is in no allocation, relative to the allocation `before` it,
// or to the next allocation if that is nearer.
std::string place_outside(uintptr_t at, const Allocation& before) {
    const auto begin = reinterpret_cast<uintptr_t>(before.begin);
    const auto next = find_allocation(reinterpret_cast<const void*>(at + kRedZoneBytes));
    const uintptr_t next_begin = next ? reinterpret_cast<uintptr_t>(next->begin) : 0;
    const bool is_before_next = next_begin > at;
    if (is_before_next && (begin == 0 || at - begin - before.bytes > next_begin - at))
        return concat("that begin ", next_begin - at, " bytes before ", name(*next), " (",
                      next->bytes, " bytes)");
    if (begin == 0) return "of device memory that was never allocated";
    return concat("at byte ", at - begin, " of ", name(before), ", which has ",
                  before.bytes, " bytes");
}

}  // namespace

// Returns whether an address is in or near the shared memory of the running block.
bool Inspector::is_shared(const void* pointer) const {
    const Region& dynamic = memory_.dynamic;
    const uintptr_t after = dynamic.offset(reinterpret_cast<uintptr_t>(pointer));
    return memory_.variables.contains(pointer) ||
           (dynamic.bytes > 0 && after + kNearShared < dynamic.bytes + 2 * kNearShared);
}

bool Inspector::may_access(const MemoryAccess& access) {
    races_.settle();
    if (devices_.contains(access.pointer)) return access_global(access);
    if (is_shared(access.pointer)) return access_shared(access);
    return !checks_ || access_other(access);
}

bool Inspector::access_global(const MemoryAccess& access) {
    if (!checks_) return observe(access, false, false);
    const Allocation& allocation = memory_.allocation_at(access.at());

    // Check that this kernel may access the memory.
    const auto refuse = [&](Mistake mistake, const auto&... parts) {
        return reject(mistake, access.address,
                      concat(verb(access.mode), " ", access.bytes, " bytes ", parts...));
    };
    const bool inside = allocation.contains(access.pointer, access.bytes);
    const int device = inside ? allocation.device : device_of(access.pointer);
    const int own_device = races_.operation().device;
    if (device != kPinned && device != own_device)
        return refuse(Mistake::kWrongDevice, "of device ", device,
                      "'s memory in a kernel of device ", own_device,
                      ": copy it there first");
    if (!inside)
        return refuse(Mistake::kOutOfBounds, place_outside(access.at(), allocation));
    if (allocation.freed)
        return refuse(Mistake::kUseAfterFree, "at ", memory_.describe(access.at(), false),
                      ", which was freed: free it when the stream is done with it");
    return observe(access, false, memory_.tracks(allocation));
}

// Counts an access to memory that the thread may access, or checks its alignment and order.
bool Inspector::observe(const MemoryAccess& access, bool shared, bool tracked) {
    if (!checks_) {
        log_.access(races_.order().block(), running().thread, access, shared);
        return true;
    }
    if (access.at() % access.alignment != 0)
        return reject(Mistake::kMisaligned, access.address,
                      concat(verb(access.mode), " ", access.bytes, " bytes together at ",
                             memory_.describe(access.at(), shared),
                             ": the address must be a multiple of ", access.alignment));
    // As in PTX, volatile accesses of global memory are relaxed atomics.
    const bool atomic = access.mode == Mode::kAtomic || (access.is_volatile && !shared);
    races_.visit({access.at(), access.bytes, shared, tracked}, access.mode, atomic,
                 access.address);
    return true;
}

bool Inspector::access_shared(const MemoryAccess& access) {
    const auto refuse = [&](uintptr_t place, const std::string& memory, size_t size,
                            const char* advice) {
        return !checks_ ||
               reject(Mistake::kOutOfBounds, access.address,
                      concat(verb(access.mode), " ", access.bytes, " bytes at byte ",
                             static_cast<int64_t>(place), " of the ", memory,
                             ", which has ", size, " bytes", advice));
    };
    const uintptr_t offset = memory_.variables.offset(access.at());
    if (offset >= memory_.variables.bytes) {
        const size_t place = memory_.dynamic.offset(access.at());
        const size_t size = memory_.dynamic.bytes;
        return place < size && access.bytes <= size - place
                   ? observe(access, true, true)
                   : refuse(place, "dynamic shared memory", size,
                            ": request more in the launch");
    }
    const SharedArray* const array = memory_.array_before(access.at());
    const size_t place = array == nullptr ? offset : offset - array->offset;
    const bool begins_inside = array != nullptr && place < array->bytes;
    const auto known = array_of_.find(access.address);
    const bool is_new = known == array_of_.end();
    if (is_new && !begins_inside && access.mode == Mode::kRead)
        return true;  // a thread-local variable that is not a shared array
    const bool strays =
        array == nullptr || (is_new ? !may_declare(access.address, array->function)
                                    : array->function != known->second->function);
    if (!strays && begins_inside && access.bytes <= array->bytes - place) {
        if (is_new) array_of_.emplace(access.address, array);
        return observe(access, true, true);
    }
    // The array that is meant: of earlier accesses, else the kernel's last one before.
    const SharedArray* meant = is_new ? array : known->second;
    for (const SharedArray& each : shared_arrays())
        if (is_new && each.function == races_.name() && each.offset <= offset)
            meant = &each;
    return meant == nullptr
               ? refuse(offset, "thread-local variables", 0, "")
               : refuse(offset - meant->offset, concat("shared array ", meant->name),
                        meant->bytes, "");
}

// Returns whether an instruction may access the arrays of a function first: it is compiled from
// the function, or in no kernel.
bool Inspector::may_declare(const void* address, const std::string& function) const {
    const std::string& kernel = races_.name();
    return function == kernel || short_name(function_at(address)) != kernel ||
           may_be_of(address, function);
}

// Checks an access outside of device memory, shared memory and the thread's stack.
bool Inspector::access_other(const MemoryAccess& access) {
    const bool reads = access.mode == Mode::kRead;
    if (reads && is_running(access.pointer)) return true;
    const ImagePart part = image_part(access.pointer);
    if (reads && part == ImagePart::kConstant) return true;
    const auto refuse = [&](const auto&... parts) {
        return reject(
            Mistake::kHostPointer, access.address,
            concat(verb(access.mode), " ", access.bytes, " bytes at ", parts...));
    };
    if (access.at() < 4096)
        return refuse("a null pointer",
                      access.at() == 0 ? "" : concat(", plus ", access.at()));
    return refuse(access.pointer, ", the host's ",
                  part == ImagePart::kNone ? "heap or stack" : "global variables",
                  ": a kernel needs memory of its device, or pinned memory");
}

bool Inspector::reject(Mistake mistake, const void* address, const std::string& message) {
    races_.abandon();
    findings_.add(mistake, races_.current(address), {}, message);
    return false;
}

}  // namespace mini::sim
