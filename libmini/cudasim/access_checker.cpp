#include "libmini/cudasim/access_checker.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/cudasim/block.hpp"
#include "libmini/cudasim/memory.hpp"
#include "libmini/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

// An access at most this many bytes outside of the dynamic shared memory is reported as
// out of the bounds of this memory.
constexpr uintptr_t kNearShared = 4096;

// Returns whether an address is in the code that calls the kernel, not in the kernel.
bool starts_kernels(const void* address) {
    const std::string function = function_at(address);
    return function.rfind("std::", 0) == 0 || function.empty() ||
           function.find("mini::cuda::launch<") != std::string::npos;
}

// Describes an address that is in no allocation, relative to the allocation `before` it,
// or to the next allocation if that is nearer.
std::string place_outside(uintptr_t at, const Allocation& before) {
    const auto begin = reinterpret_cast<uintptr_t>(before.begin);
    const auto next = find_allocation(reinterpret_cast<const void*>(at + kRedZoneBytes));
    const uintptr_t next_begin = next ? reinterpret_cast<uintptr_t>(next->begin) : 0;
    const bool is_before_next = next_begin > at;
    if (is_before_next && (begin == 0 || at - begin - before.bytes > next_begin - at))
        return concat("that begin ", next_begin - at, " bytes before allocation ",
                      next->id, " (", next->bytes, " bytes)");
    if (begin == 0) return "of device memory that was never allocated";
    return concat("at byte ", at - begin, " of allocation ", before.id, ", which has ",
                  before.bytes, " bytes");
}

}  // namespace

AccessChecker::AccessChecker(Findings* findings, AccessLog* log, Execution& execution,
                             MemoryMap& memory)
    : findings_(findings),
      log_(log),
      execution_(execution),
      memory_(memory),
      shared_bounds_(execution, memory) {
    if (findings != nullptr) races_.emplace(*findings, execution, memory);
}

void AccessChecker::begin_operation(const OperationInfo& info) {
    shared_bounds_.begin_operation();
    if (races_ && info.kind != OperationKind::kKernel) races_->visit_copy(info);
}

bool AccessChecker::access(const void* pointer, size_t bytes, Mode mode,
                           const void* address) {
    const auto at = reinterpret_cast<uintptr_t>(pointer);
    if (on_own_stack(pointer)) return true;
    const auto inside = [&](std::span<std::byte> range) {
        return at - reinterpret_cast<uintptr_t>(range.data()) < range.size();
    };
    const auto near = [&](std::span<std::byte> range) {
        const uintptr_t low = reinterpret_cast<uintptr_t>(range.data()) - kNearShared;
        return !range.empty() && at - low < range.size() + 2 * kNearShared;
    };
    if (device_of(pointer) != kPageable) return access_global(at, bytes, mode, address);
    if (inside(memory_.variables()) || near(memory_.dynamic()))
        return access_shared(at, bytes, mode, address);
    return findings_ == nullptr || access_other(at, bytes, mode, address);
}

bool AccessChecker::access_global(uintptr_t at, size_t bytes, Mode mode,
                                  const void* address) {
    const auto* const pointer = reinterpret_cast<const void*>(at);
    const MemoryMap::Target target = memory_.target_at(at);
    const Allocation& allocation = target.allocation;
    count(at, bytes, mode, address, false);
    if (findings_ == nullptr) return true;

    // Check that this kernel may access the memory.
    const auto refuse = [&](Mistake mistake, const auto&... parts) {
        return reject(mistake, address,
                      concat(verb(mode), " ", bytes, " bytes ", parts...));
    };
    const int device = device_of(pointer);
    const int own_device = execution_.info().device;
    if (device != kPinned && device != own_device)
        return refuse(Mistake::kWrongDevice, "of device ", device,
                      "'s memory in a kernel of device ", own_device,
                      ": copy it there first");
    if (!allocation.contains(pointer, bytes))
        return refuse(Mistake::kOutOfBounds, place_outside(at, allocation));
    if (allocation.freed)
        return refuse(Mistake::kUseAfterFree, "at ", memory_.describe(at, false),
                      ", which was freed: free it when the stream is done with it");
    if (std::has_single_bit(bytes) && bytes <= 16 && at % bytes != 0 && bytes > 4)
        return refuse(Mistake::kMisaligned, "together at byte ",
                      at - reinterpret_cast<uintptr_t>(allocation.begin),
                      " of allocation ", allocation.id,
                      ": vector accesses need a multiple of their size");

    if (mode == Mode::kAtomic) execution_.order().atomic(running().thread, at);
    races_->visit({.at = at, .bytes = bytes, .tracked = target.tracked}, mode,
                  execution_.thread_access(mode, address));
    return true;
}

bool AccessChecker::access_shared(uintptr_t at, size_t bytes, Mode mode,
                                  const void* address) {
    const auto result = shared_bounds_.check(at, bytes, mode, address);
    if (result == SharedBounds::Result::kOtherVariable) return true;
    if (result == SharedBounds::Result::kOutside)
        return findings_ == nullptr ||
               reject(Mistake::kOutOfBounds, address,
                      concat(verb(mode), " ", bytes, " bytes ",
                             shared_bounds_.describe_outside(at, address)));
    count(at, bytes, mode, address, true);
    if (races_)
        races_->visit({.at = at, .bytes = bytes, .shared = true, .tracked = true}, mode,
                      execution_.thread_access(mode, address));
    return true;
}

// Checks an access outside of device memory, shared memory and the thread's stack.
bool AccessChecker::access_other(uintptr_t at, size_t bytes, Mode mode,
                                 const void* address) {
    const auto* const pointer = reinterpret_cast<const void*>(at);
    const ImagePart part = image_part(pointer);
    if (part == ImagePart::kConstant && mode == Mode::kRead) return true;
    if (starts_kernels(address)) return true;
    if (at < 4096)
        return reject(Mistake::kHostPointer, address,
                      concat(verb(mode), " ", bytes, " bytes at a null pointer",
                             at == 0 ? "" : concat(", plus ", at)));
    return reject(Mistake::kHostPointer, address,
                  concat(verb(mode), " ", bytes, " bytes at ", pointer, ", the host's ",
                         part == ImagePart::kNone ? "heap or stack" : "global variables",
                         ": a kernel needs memory of its device, or pinned memory"));
}

void AccessChecker::count(uintptr_t at, size_t bytes, Mode mode, const void* address,
                          bool shared) {
    if (log_ != nullptr)
        log_->access({execution_.order().block(), running().thread, at,
                      static_cast<uint32_t>(bytes), mode, shared, address});
}

// Adds a finding and abandons the kernel; returns false.
bool AccessChecker::reject(Mistake mistake, const void* address,
                           const std::string& message) {
    execution_.abandon();
    if (!findings_->met(mistake, address, nullptr))
        findings_->add(mistake, execution_.current(address), {}, message);
    return false;
}

}  // namespace mini::sim
