#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/cudasim/block.hpp"
#include "libmini/cudasim/inspector.hpp"
#include "libmini/cudasim/memory.hpp"

// Checks one load, store or atomic of a kernel: whether the memory is accessible, whether
// it is initialised, and whether the access is ordered with the accesses of other
// threads.

namespace mini::sim {
namespace {

// An access at most this far outside of shared memory is reported as out of its bounds.
constexpr uintptr_t kNearShared = 4096;

const char* verb(Mode mode) {
    return mode == Mode::kRead ? "reads" : mode == Mode::kWrite ? "writes" : "updates";
}

// Returns whether an address is in the code that calls the kernel, not in the kernel.
bool starts_kernels(const void* address) {
    const std::string function = function_at(address);
    return function.rfind("std::", 0) == 0 || function.empty() ||
           function.find("mini::cuda::launch<") != std::string::npos;
}

// Describes an address in no allocation: relative to the allocation `before` it, or to
// the next one if that is nearer.
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

bool Inspector::access(const void* pointer, size_t bytes, Mode mode,
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
    if (inside(variables_) || near(dynamic_))
        return access_shared(at, bytes, mode, address);
    return findings_ == nullptr || access_other(at, bytes, mode, address);
}

Inspector::Hit Inspector::hit(uintptr_t at) {
    if (memory_changed_.exchange(false)) recent_.clear();
    const auto* const pointer = reinterpret_cast<const void*>(at);
    for (const Hit& each : recent_)
        if (each.allocation.contains(pointer, 1)) return each;
    Hit found;
    found.allocation = find_allocation(pointer).value_or(Allocation{});
    const uint64_t first = first_tracked_;
    found.tracked =
        first != 0 && found.allocation.id >= first && found.allocation.device != kPinned;
    if (recent_.size() >= 8) recent_.erase(recent_.begin());
    recent_.push_back(found);
    return found;
}

bool Inspector::access_global(uintptr_t at, size_t bytes, Mode mode,
                              const void* address) {
    const auto* const pointer = reinterpret_cast<const void*>(at);
    const Hit target = hit(at);
    const Allocation& allocation = target.allocation;
    if (log_ != nullptr)
        log_->access({order_.block(), running().thread, at, static_cast<uint32_t>(bytes),
                      mode, false, address});
    if (findings_ == nullptr) return true;

    // Check that this kernel may access the memory.
    const auto reject = [&](Mistake mistake, auto&&... parts) {
        abandoned_ = true;
        if (!findings_->met(mistake, address, nullptr))
            report(mistake, address, {},
                   concat(verb(mode), " ", bytes, " bytes ",
                          std::forward<decltype(parts)>(parts)...));
        return false;
    };
    const int device = device_of(pointer);
    if (device != kPinned && device != info_.device)
        return reject(Mistake::kWrongDevice, "of device ", device,
                      "'s memory in a kernel of ", "device ", info_.device,
                      ": copy it there first");
    if (!allocation.contains(pointer, bytes))
        return reject(Mistake::kOutOfBounds, place_outside(at, allocation));
    if (allocation.freed)
        return reject(
            Mistake::kUseAfterFree, "at byte ",
            at - reinterpret_cast<uintptr_t>(allocation.begin), " of allocation ",
            allocation.id, " (", allocation.bytes,
            " bytes), which was freed: free it when the stream is done with it");
    if (std::has_single_bit(bytes) && bytes <= 16 && at % bytes != 0 && bytes > 4)
        return reject(Mistake::kMisaligned, "together at byte ",
                      at - reinterpret_cast<uintptr_t>(allocation.begin),
                      " of allocation ", allocation.id,
                      ": vector accesses need a multiple of their size");

    if (mode == Mode::kAtomic) order_.atomic(running().thread, at);
    visit(at, bytes, mode, this_access(mode, address), false, target.tracked);
    return true;
}

const SharedArray* Inspector::array_at(uintptr_t at) const {
    const size_t offset = at - reinterpret_cast<uintptr_t>(variables_.data());
    const auto& arrays = shared_arrays();
    auto after = std::upper_bound(
        arrays.begin(), arrays.end(), offset,
        [](size_t value, const SharedArray& array) { return value < array.offset; });
    if (after == arrays.begin()) return nullptr;
    --after;
    return offset - after->offset < after->bytes ? &*after : nullptr;
}

// Returns whether an instruction accesses another array than its own, or no array. Its
// own array is the one that it accessed first; it must be declared in a function that the
// instruction is compiled from.
bool Inspector::strays(const SharedArray* array, const void* address) const {
    const auto known = array_of_.find(address);
    if (known != array_of_.end())
        return array == nullptr || array->function != known->second->function;
    const std::string& kernel = known_[operation_].kernel;
    if (array == nullptr || array->function == kernel ||
        short_name(function_at(address)) != kernel)
        return false;
    const auto& functions = inlined_at(address);
    return std::find(functions.begin(), functions.end(), array->function) ==
           functions.end();
}

bool Inspector::access_shared(uintptr_t at, size_t bytes, Mode mode,
                              const void* address) {
    const bool dynamic =
        at - reinterpret_cast<uintptr_t>(variables_.data()) >= variables_.size();
    const SharedArray* const array = dynamic ? nullptr : array_at(at);
    if (!dynamic) {
        const bool strayed = strays(array, address);
        if (array == nullptr && !strayed && mode == Mode::kRead) return true;
        const bool crosses = array != nullptr &&
                             at + bytes > reinterpret_cast<uintptr_t>(variables_.data()) +
                                              array->offset + array->bytes;
        if (strayed || crosses || array == nullptr)
            return findings_ == nullptr || outside_shared(at, bytes, mode, address);
        array_of_.emplace(address, array);
    }
    const size_t place = at - reinterpret_cast<uintptr_t>(dynamic_.data());
    if (dynamic && (place >= dynamic_.size() || bytes > dynamic_.size() - place))
        return findings_ == nullptr || outside_shared(at, bytes, mode, address);
    if (log_ != nullptr)
        log_->access({order_.block(), running().thread, at, static_cast<uint32_t>(bytes),
                      mode, true, address});
    if (findings_ != nullptr)
        visit(at, bytes, mode, this_access(mode, address), true, true);
    return true;
}

// Reports an access outside of a shared array: the instruction's own array, or the
// nearest one.
bool Inspector::outside_shared(uintptr_t at, size_t bytes, Mode mode,
                               const void* address) {
    abandoned_ = true;
    if (findings_->met(Mistake::kOutOfBounds, address, nullptr)) return false;
    const auto base = reinterpret_cast<uintptr_t>(variables_.data());
    if (at - base >= variables_.size()) {
        const auto begin = reinterpret_cast<uintptr_t>(dynamic_.data());
        report(
            Mistake::kOutOfBounds, address, {},
            concat(verb(mode), " ", bytes, " bytes at byte ",
                   static_cast<int64_t>(at - begin), " of the dynamic shared memory, ",
                   "which has ", dynamic_.size(), " bytes: request more in the launch"));
        return false;
    }
    const auto known = array_of_.find(address);
    const SharedArray* nearest = known == array_of_.end() ? nullptr : known->second;
    const auto distance = [&](const SharedArray& array) {
        const auto offset = static_cast<int64_t>(at - base);
        const auto begin = static_cast<int64_t>(array.offset);
        return offset < begin ? begin - offset
                              : offset - begin - static_cast<int64_t>(array.bytes) + 1;
    };
    const std::string& kernel = known_[operation_].kernel;
    if (nearest == nullptr)
        for (const SharedArray& array : shared_arrays())
            if (array.function == kernel &&
                (nearest == nullptr || distance(array) < distance(*nearest)))
                nearest = &array;
    report(Mistake::kOutOfBounds, address, {},
           nearest == nullptr
               ? concat(verb(mode), " ", bytes, " bytes outside of every shared array")
               : concat(verb(mode), " ", bytes, " bytes at byte ",
                        static_cast<int64_t>(at - base) -
                            static_cast<int64_t>(nearest->offset),
                        " of the shared array ", nearest->name, ", which has ",
                        nearest->bytes, " bytes"));
    return false;
}

// Checks an access outside of device memory, shared memory and the thread's stack.
bool Inspector::access_other(uintptr_t at, size_t bytes, Mode mode, const void* address) {
    const ImagePart part = image_part(reinterpret_cast<const void*>(at));
    if (part == ImagePart::kConstant && mode == Mode::kRead) return true;
    if (starts_kernels(address)) return true;
    abandoned_ = true;
    if (findings_->met(Mistake::kHostPointer, address, nullptr)) return false;
    const auto* const pointer = reinterpret_cast<const void*>(at);
    if (at < 4096)
        report(Mistake::kHostPointer, address, {},
               concat(verb(mode), " ", bytes, " bytes at a null pointer",
                      at == 0 ? "" : concat(", plus ", at)));
    else
        report(Mistake::kHostPointer, address, {},
               concat(verb(mode), " ", bytes, " bytes at ", pointer, ", the host's ",
                      part == ImagePart::kNone ? "heap or stack" : "global variables",
                      ": a kernel needs memory of its device, or pinned memory"));
    return false;
}

void Inspector::visit(uintptr_t at, size_t bytes, Mode mode, const Access& access,
                      bool shared, bool tracked) {
    for (uintptr_t word = at / 4 * 4; word < at + bytes; word += 4) {
        const uintptr_t first = std::max(word, at) - word;
        const uintptr_t last = std::min(word + 4, at + bytes) - word;
        Access now = access;
        now.bytes = static_cast<uint8_t>((1u << last) - (1u << first));
        Cell& cell = shadow_.at(word);

        // Each block starts with uninitialised shared memory.
        if (shared &&
            (cell.write.operation != operation_ || cell.write.block != now.block))
            cell.initialised = 0;
        const bool reads = mode != Mode::kWrite;
        if (reads && tracked && (now.bytes & ~cell.initialised) != 0 &&
            !findings_->met(Mistake::kUninitialised, now.address, nullptr))
            report(Mistake::kUninitialised, now.address, {},
                   concat("reads ", bytes, " bytes of ", place_name(at, shared),
                          " that were never written"));

        judge_order(cell.write, now, mode, at, shared, true);
        if (mode != Mode::kRead)
            for (const Access& read : cell.reads)
                judge_order(read, now, mode, at, shared, false);

        if (mode == Mode::kRead) {
            // Keep the first of the unordered reads, and the last.
            const bool replace = cell.reads[0].operation == 0 || before(cell.reads[0]) ||
                                 cell.reads[0].thread == now.thread;
            cell.reads[replace ? 0 : 1] = now;
        } else {
            cell.write = now;
            cell.reads = {};
            cell.initialised |= now.bytes;
        }
    }
}

// Returns whether an earlier access happens before the running thread or operation.
bool Inspector::before(const Access& earlier) const {
    if (earlier.operation == operation_)
        return !known_[operation_].is_kernel ||
               order_.precedes(earlier, running().thread);
    return precedes(known_[earlier.operation].stamp, info_.clock);
}

void Inspector::judge_order(const Access& earlier, const Access& now, Mode mode,
                            uintptr_t at, bool shared, bool earlier_wrote) {
    if (earlier.operation == 0 || (earlier.bytes & now.bytes) == 0) return;
    const bool same = earlier.operation == operation_;
    if (shared && (!same || earlier.block != now.block)) return;  // of a finished block
    if ((earlier.atomic && now.atomic) || before(earlier)) return;
    const Mistake mistake = same ? Mistake::kRace : Mistake::kMissingSync;
    if (findings_->met(mistake, now.address, earlier.address)) return;

    const char* const did = earlier.atomic ? "updated" : earlier_wrote ? "wrote" : "read";
    std::string message = concat(verb(mode), " ", place_name(at, shared), ", which ");
    if (!same)
        message += concat(known_[earlier.operation].kernel, " ", did,
                          " in another stream, and no event or wait orders the two");
    else if (earlier.block != now.block)
        message += concat("another block ", did,
                          ": blocks run in any order; use atomics, ", "or two launches");
    else if (earlier.thread / 32 == now.thread / 32)
        message += concat("another lane of the warp ", did, ": a __syncwarp(), or ",
                          "__syncthreads(), between them is missing");
    else
        message +=
            concat("another thread ", did, ": a __syncthreads() between them is missing");
    report(mistake, now.address, party(earlier), std::move(message));
}

std::string Inspector::place_name(uintptr_t at, bool shared) {
    if (!shared) {
        const Allocation allocation = hit(at).allocation;
        return concat("byte ", at - reinterpret_cast<uintptr_t>(allocation.begin),
                      " of allocation ", allocation.id, " (", allocation.bytes,
                      " bytes)");
    }
    const auto base = reinterpret_cast<uintptr_t>(variables_.data());
    if (at - base >= variables_.size())
        return concat("byte ", at - reinterpret_cast<uintptr_t>(dynamic_.data()),
                      " of the dynamic shared memory");
    const SharedArray* const array = array_at(at);
    if (array == nullptr) return "shared memory";
    return concat("byte ", at - base - array->offset, " of the shared array ",
                  array->name);
}

void Inspector::copy_initialised(uintptr_t to, uintptr_t from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t known =
            shadow_.at((from + i) / 4 * 4).initialised >> (from + i) % 4 & 1;
        uint8_t& all = shadow_.at((to + i) / 4 * 4).initialised;
        all = static_cast<uint8_t>((all & ~(1u << (to + i) % 4)) | known << (to + i) % 4);
    }
}

}  // namespace mini::sim
