#include "libmini/extras/cudasim/access_checker.hpp"

#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block.hpp"
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
    devices_ = all_memory();
    shared_bounds_.begin_operation();
    if (races_ && info.kind != OperationKind::kKernel) races_->visit_copy(info);
}

// Returns whether an address is in the code that calls the kernel, not in the kernel. That
// code reads the arguments of the launch in each thread.
bool AccessChecker::starts_kernels(const void* address) {
    const auto [found, is_new] = starts_kernels_.try_emplace(address);
    if (is_new) {
        const std::string& function = function_at(address);
        found->second = function.rfind("std::", 0) == 0 || function.empty() ||
                        function.find("mini::cuda::launch<") != std::string::npos;
    }
    return found->second;
}

// Returns whether an address is in or near the shared memory of the running block.
bool AccessChecker::is_shared(const void* pointer) const {
    const auto at = reinterpret_cast<uintptr_t>(pointer);
    const auto inside = [&](std::span<std::byte> range) {
        return at - reinterpret_cast<uintptr_t>(range.data()) < range.size();
    };
    const auto near = [&](std::span<std::byte> range) {
        const uintptr_t low = reinterpret_cast<uintptr_t>(range.data()) - kNearShared;
        return !range.empty() && at - low < range.size() + 2 * kNearShared;
    };
    return inside(memory_.variables()) || near(memory_.dynamic());
}

bool AccessChecker::access(const MemoryAccess& access) {
    if (races_) races_->settle();
    if (devices_.contains(access.pointer)) return access_global(access);
    if (is_shared(access.pointer)) return access_shared(access);
    return findings_ == nullptr || access_other(access);
}

bool AccessChecker::access_global(const MemoryAccess& access) {
    const MemoryMap::Target& target = memory_.target_at(access.at());
    const Allocation& allocation = target.allocation;
    count(access, false);
    if (findings_ == nullptr) return true;

    // Check that this kernel may access the memory.
    const auto refuse = [&](Mistake mistake, const auto&... parts) {
        return reject(mistake, access.address,
                      concat(verb(access.mode), " ", access.bytes, " bytes ", parts...));
    };
    const bool inside = allocation.contains(access.pointer, access.bytes);
    const int device = inside ? allocation.device : device_of(access.pointer);
    const int own_device = execution_.info().device;
    if (device != kPinned && device != own_device)
        return refuse(Mistake::kWrongDevice, "of device ", device,
                      "'s memory in a kernel of device ", own_device,
                      ": copy it there first");
    if (!inside)
        return refuse(Mistake::kOutOfBounds, place_outside(access.at(), allocation));
    if (allocation.freed)
        return refuse(Mistake::kUseAfterFree, "at ", memory_.describe(access.at(), false),
                      ", which was freed: free it when the stream is done with it");
    if (access.at() % access.alignment != 0) return reject_misaligned(access, false);

    if (access.mode == Mode::kAtomic)
        execution_.order().atomic(running().thread, access.at(), false);
    races_->visit({.at = access.at(), .bytes = access.bytes, .tracked = target.tracked},
                  access.mode, execution_.thread_access(access.mode, access.address));
    return true;
}

bool AccessChecker::access_shared(const MemoryAccess& access) {
    const auto result = shared_bounds_.check(access);
    if (result == SharedBounds::Result::kOtherVariable) return true;
    // The arguments of the launch may lie near the dynamic shared memory, on the heap.
    if (result == SharedBounds::Result::kOutside && starts_kernels(access.address))
        return true;
    if (result == SharedBounds::Result::kOutside)
        return findings_ == nullptr ||
               reject(Mistake::kOutOfBounds, access.address,
                      concat(verb(access.mode), " ", access.bytes, " bytes ",
                             shared_bounds_.describe_outside(access)));
    count(access, true);
    if (!races_) return true;
    if (access.at() % access.alignment != 0) return reject_misaligned(access, true);
    if (access.mode == Mode::kAtomic)
        execution_.order().atomic(running().thread, access.at(), true);
    races_->visit(
        {.at = access.at(), .bytes = access.bytes, .shared = true, .tracked = true},
        access.mode, execution_.thread_access(access.mode, access.address));
    return true;
}

// Checks an access outside of device memory, shared memory and the thread's stack.
bool AccessChecker::access_other(const MemoryAccess& access) {
    if (starts_kernels(access.address)) return true;
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

void AccessChecker::count(const MemoryAccess& access, bool shared) {
    if (log_ != nullptr)
        log_->access({execution_.order().block(), running().thread, access.at(),
                      static_cast<uint32_t>(access.bytes), access.mode, shared,
                      access.address});
}

bool AccessChecker::reject_misaligned(const MemoryAccess& access, bool shared) {
    return reject(Mistake::kMisaligned, access.address,
                  concat(verb(access.mode), " ", access.bytes, " bytes together at ",
                         memory_.describe(access.at(), shared),
                         ": the address must be a multiple of ", access.alignment));
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
