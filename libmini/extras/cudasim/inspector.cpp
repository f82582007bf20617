#include "libmini/extras/cudasim/inspector.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

namespace {

// A thread that reads the same value this often spins; fewer after the first finding.
constexpr uint32_t kMaxPolls = 20'000;
constexpr uint32_t kFewPolls = 512;
constexpr uint32_t kYieldAfter = 256;

// An access at most this many bytes outside of the dynamic shared memory is reported as
// out of the bounds of this memory.
constexpr uintptr_t kNearShared = 4096;

Inspector& self() { return *installed_inspector; }

// Whether this host thread runs a block, whose accesses are inspected.
constinit thread_local bool observes = false;

// Disables the inspector while it exists: a function that the inspector calls may be
// instrumented too, if the linker took a function template from a kernel's object file.
struct Unobserved {
    ~Unobserved() { observes = before; }
    const bool before = std::exchange(observes, false);
};

// The places of the shared arrays that a kernel has declared, of all kernels launched until now.
std::set<size_t>& arrays_of_kernels() {
    static auto& all = *new std::set<size_t>;
    return all;
}

void inspect(const auto& body) {
    if (!observes) return;
    const Unobserved unobserved;
    body(self());
}

}  // namespace

void note_atomic(const void* pointer, size_t bytes) {
    if (is_inspected()) tell::access({pointer, bytes, bytes, Mode::kAtomic, MINI_CALL});
}

void tell::warp_operation(unsigned mask, int from, const void* address) {
    inspect([&](Inspector& each) {
        const unsigned lane = running().thread % 32;
        const bool inside = (mask >> lane & 1) != 0;
        const bool source = from < 0 || (mask >> from & 1) != 0;
        if (!each.checks_ || (inside && source)) return;
        each.findings_.add(
            Mistake::kWarpMask, each.races_.current(address), {},
            inside ? concat("lane ", lane, " reads the value of lane ", from,
                            ", which is not in the mask: the result is undefined")
                   : concat("lane ", lane, " takes part, but is not in the mask"));
    });
}

void note_fence(Scope scope) {
    inspect([&](Inspector& each) { each.races_.order().fence(running().thread, scope); });
}

std::vector<uint32_t> order_of_blocks(uint32_t blocks, uint64_t seed) {
    std::vector<uint32_t> order(blocks);
    std::iota(order.begin(), order.end(), 0u);
    if (seed == 0) return order;
    std::mt19937_64 random(seed);
    for (uint32_t left = blocks; left > 1; --left)
        std::swap(order[left - 1], order[random() % left]);
    return order;
}

Inspector::Inspector(bool checks) : checks_(checks) {
    if (checks) guard_.emplace(&findings_);
    installed_inspector = this;
}

void tell::allocated_or_freed(const Allocation& allocation) {
    self().memory_.memory_changed();
    if (self().guard_) self().guard_->allocated_or_freed(allocation);
}

void tell::operation_given(Operation& operation) {
    if (!self().guard_) return;
    if (operation.kind <= kLastOfMemory) operation.call = calling_place();
    self().guard_->given(operation);
}

void tell::host_waited(const Clock& clock) {
    if (self().guard_) self().guard_->waited(clock);
}

void tell::refused(const char* why, const void* kernel) {
    const Unobserved unobserved;
    const auto mistake = kernel == nullptr ? Mistake::kRefusedCall : Mistake::kRefused;
    const std::string what =
        kernel == nullptr ? why : concat(function_at(kernel), " was not launched: ", why);
    if (self().checks_)
        self().findings_.add(mistake, {calling_place()}, {}, what);
    else
        fprintf(stderr, "%s\n", what.c_str());
}

void tell::operation_begins(const Operation& operation) {
    if (operation.kind > kLastOfMemory) return;
    self().running_.lock();
    if (self().guard_) self().guard_->begins();
    self().races_.begin(operation);
    if (operation.launch != nullptr)
        for (const SharedArray& each : shared_arrays_of(operation.launch->kernel))
            arrays_of_kernels().insert(each.offset);
    if (!self().checks_ && operation.kind == OperationKind::kKernel)
        self().log_.begin_launch(self().races_.name(), operation.launch->grid,
                                 operation.launch->block);
    self().array_of_.clear();
    if (self().checks_ && operation.kind != OperationKind::kKernel)
        self().races_.visit_copy();
}

void tell::operation_ends(const Operation& operation) {
    if (operation.kind > kLastOfMemory) return;
    if (self().guard_) self().guard_->ends();
    self().running_.unlock();
}

uint64_t tell::seed_of_blocks() { return self().checks_ ? block_seed() : 0; }

void tell::grid_synchronized() { self().races_.grid_met(); }

void tell::block_begins(const Launch& launch, unsigned block, bool continues) {
    const unsigned threads = threads_of(launch);
    self().races_.begin_block(block, threads);
    MemoryMap& memory = self().memory_;
    memory.variables = thread_variables();
    memory.dynamic = {dynamic_shared(), launch.shared_bytes};
    memory.kernel = self().races_.name();
    self().continues_ = continues;
    self().polls_.assign(threads, {});
    observes = true;
}

void tell::block_ends() {
    observes = false;
    self().races_.settle();
    self().log_.end_block();
}

// Adds a finding: a thread that waits, and another that is elsewhere, or the end.
using States = std::span<const ThreadState>;
static void report_barrier(States states, States::iterator waits, States::iterator other,
                           const char* message) {
    const auto place = [&](States::iterator state) {
        const auto thread = static_cast<unsigned>(state - states.begin());
        return state == states.end() ? Place{}
                                     : self().races_.place(state->address, thread);
    };
    if (self().checks_ && !self().races_.is_abandoned())
        self().findings_.add(Mistake::kBarrier, place(waits), place(other), message);
}

void tell::block_synchronized(States states) {
    const Unobserved unobserved;
    self().races_.order().block_met();
    if (!self().checks_) self().log_.barrier();

    // All threads must wait at the same barrier call; none may have exited.
    const auto first =
        std::ranges::find(states, ThreadState::At::kBlockBarrier, &ThreadState::at);
    if (first == states.end()) return;
    const auto other = std::ranges::find_if(states, [&](const ThreadState& s) {
        return s.at == ThreadState::At::kExited || s.address != first->address;
    });
    if (other == states.end()) return;
    report_barrier(
        states, first, other,
        other->at == ThreadState::At::kExited
            ? "a thread of the block has ended without this __syncthreads(): all threads "
              "must reach it; let those without work skip the work, not the barrier (the "
              "other line is that of the launch)"
            : "threads of one block wait at two different __syncthreads(): take the "
              "barrier out of the branch");
}

void tell::warp_synchronized(unsigned thread, unsigned mask) {
    self().races_.order().warp_met(thread, mask);
}

void tell::lanes_differ(States states, unsigned thread, unsigned other) {
    const Unobserved unobserved;
    report_barrier(
        states, states.begin() + thread, states.begin() + other,
        "lanes of one mask are in two different warp operations: all must call "
        "the same one; take it out of the branch");
}

void tell::lane_exited(unsigned thread, const void* address, int from) {
    const Unobserved unobserved;
    if (!self().checks_ || self().races_.is_abandoned()) return;
    const unsigned lane = thread % 32;
    const unsigned other = thread - lane + static_cast<unsigned>(from);
    self().findings_.add(
        Mistake::kWarpMask, self().races_.place(address, thread),
        self().races_.place(nullptr, other),
        concat("lane ", lane, " reads the value of lane ", from,
               ", which is in the mask, but has ended without this call: the result is "
               "undefined; take the shuffle out of the branch (the other line is that of "
               "the launch)"));
}

void tell::block_stuck(States states) {
    observes = false;  // no thread of the block runs any more
    // Report one waiting thread, and another that waits elsewhere or has exited.
    using At = ThreadState::At;
    const auto waits = std::ranges::find_if(states, [](const ThreadState& s) {
        return s.at == At::kWarpBarrier || s.at == At::kGridBarrier;
    });
    if (waits == states.end()) return;
    const auto other = std::ranges::find_if(states, [&](const ThreadState& s) {
        return s.at != waits->at || s.address != waits->address || s.mask != waits->mask;
    });
    report_barrier(
        states, waits, other,
        waits->at == At::kWarpBarrier
            ? "a warp waits for lanes of its mask that never arrive: no thread of the "
              "block can continue"
            : "a block waits at grid.sync() for threads that never arrive, or the launch "
              "is not by cudaLaunchCooperativeKernel");
}

void tell::access(const MemoryAccess& access) {
    using Next = Inspector::Next;
    auto next = Next::kContinue;
    inspect([&](Inspector& each) { next = each.access(access); });
    if (next == Next::kAbandon) abandon_thread();
    if (next == Next::kYield) yield_thread();
}

Inspector::Next Inspector::access(const MemoryAccess& access) {
    if (access.bytes == 0 || on_own_stack(access.pointer)) return Next::kContinue;
    races_.settle();
    const bool may = devices_.contains(access.pointer) ? access_global(access)
                     : is_shared(access.pointer)       ? access_shared(access)
                                                       : !checks_ || access_other(access);
    return !may ? Next::kAbandon : checks_ ? poll(access) : Next::kContinue;
}

// Counts an access to accessible memory. A thread that has polled too often spins forever.
Inspector::Next Inspector::poll(const MemoryAccess& access) {
    Poll& last = polls_[running().thread];
    uint64_t value = 0;
    std::memcpy(&value, access.pointer, std::min(access.bytes, sizeof(value)));
    if (access.mode == Mode::kWrite || access.pointer != last.pointer ||
        value != last.value) {
        last = {access.pointer, value, 0};
        return Next::kContinue;
    }
    if (++last.count < (races_.is_abandoned() ? kFewPolls : kMaxPolls))
        return last.count % kYieldAfter == 0 ? Next::kYield : Next::kContinue;
    reject(
        Mistake::kSpin, access.address,
        concat("waits for a value at ",
               memory_.describe(access.at(), device_of(access.pointer) == kPageable),
               " that no other thread of the block will change. CUDA promises no order "
               "of the blocks, and need not start a block before another has ended "
               "(here they ran in the order of MINI_SIM_BLOCK_SEED=",
               block_seed(), "): let no block wait for another, or use two launches"));
    return Next::kAbandon;
}

void tell::index(int64_t index, const char* array, const void* address) {
    bool goes_on = true;
    inspect([&](Inspector& each) {
        if (each.checks_)
            goes_on = each.reject(
                Mistake::kOutOfBounds, address,
                concat("uses the index ", index, " of an array of type ", array));
    });
    if (!goes_on) abandon_thread();
}

// ---- where accesses go ----

// Returns whether an address is in or near the shared memory of the running block.
bool Inspector::is_shared(const void* pointer) const {
    const Region& dynamic = memory_.dynamic;
    const uintptr_t after = dynamic.offset(reinterpret_cast<uintptr_t>(pointer));
    return memory_.variables.contains(pointer) ||
           (dynamic.bytes > 0 && after + kNearShared < dynamic.bytes + 2 * kNearShared);
}

bool Inspector::access_global(const MemoryAccess& access) {
    if (!checks_) return observe(access, false, false);
    const Allocation& allocation = memory_.allocation_at(access.at());

    // Check that this kernel may access the memory.
    const bool inside = allocation.contains(access.pointer, access.bytes);
    const int device = inside ? allocation.device : device_of(access.pointer);
    const int own_device = races_.operation().device;
    if (device != kPinned && device != own_device)
        return refuse(access, Mistake::kWrongDevice, "of device ", device,
                      "'s memory in a kernel of device ", own_device,
                      ": copy it there first");
    if (!inside)
        return refuse(access, Mistake::kOutOfBounds,
                      place_outside(access.at(), allocation));
    if (allocation.freed)
        return refuse(access, Mistake::kUseAfterFree, "at ",
                      memory_.describe(access.at(), false),
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
        return refuse(access, Mistake::kMisaligned, "together at ",
                      memory_.describe(access.at(), shared),
                      ": the address must be a multiple of ", access.alignment);
    // As in PTX, volatile accesses of global memory are relaxed atomics.
    const bool atomic = access.mode == Mode::kAtomic || (access.is_volatile && !shared);
    races_.visit({access.at(), access.bytes, shared, tracked}, access.mode, atomic,
                 access.address);
    return true;
}

bool Inspector::access_shared(const MemoryAccess& access) {
    const auto outside = [&](uintptr_t place, const std::string& memory, size_t size,
                             const char* advice = "") {
        return !checks_ || refuse(access, Mistake::kOutOfBounds, "at byte ",
                                  static_cast<int64_t>(place), " of the ", memory,
                                  ", which has ", size, " bytes", advice);
    };
    const uintptr_t offset = memory_.variables.offset(access.at());
    if (offset >= memory_.variables.bytes) {
        const size_t place = memory_.dynamic.offset(access.at());
        const size_t size = memory_.dynamic.bytes;
        return place < size && access.bytes <= size - place
                   ? observe(access, true, !continues_)
                   : outside(place, "dynamic shared memory", size,
                             ": request more in the launch");
    }
    const SharedArray* const array = memory_.array_before(access.at());
    const size_t place = array == nullptr ? offset : offset - array->offset;
    const bool inside = array != nullptr && place < array->bytes;
    if (inside && array->function != memory_.kernel &&
        arrays_of_kernels().contains(array->offset))
        return outside(place, concat("shared array ", array->name, " of another kernel"),
                       array->bytes);
    const auto known = inside ? array_of_.try_emplace(access.address, array).first
                              : array_of_.find(access.address);
    const bool is_new = known == array_of_.end();
    if (is_new && access.mode == Mode::kRead)
        return true;  // a thread-local variable that is not a shared array
    const SharedArray* const meant = is_new ? array : known->second;
    if (inside && array->function == meant->function &&
        access.bytes <= array->bytes - place)
        return observe(access, true, !continues_);
    return meant == nullptr ? outside(offset, "thread-local variables", 0)
                            : outside(offset - meant->offset,
                                      concat("shared array ", meant->name), meant->bytes);
}

// Checks an access outside of device memory, shared memory and the thread's stack.
bool Inspector::access_other(const MemoryAccess& access) {
    const bool reads = access.mode == Mode::kRead;
    const Region coordinates{reinterpret_cast<std::byte*>(&running()),
                             sizeof(Coordinates)};
    // The copy constructor of a parameter reads the argument.
    const Region& arguments = races_.operation().launch->arguments;
    if (reads &&
        (coordinates.contains(access.pointer) || arguments.contains(access.pointer)))
        return true;
    const ImagePart part = image_part(access.pointer);
    if (reads && part == ImagePart::kConstant) return true;
    if (access.at() < 4096)
        return refuse(access, Mistake::kHostPointer, "at a null pointer",
                      access.at() == 0 ? "" : concat(", plus ", access.at()));
    return refuse(access, Mistake::kHostPointer, "at ", access.pointer, ", the host's ",
                  part == ImagePart::kNone ? "heap or stack" : "global variables",
                  ": a kernel needs memory of its device, or pinned memory");
}

bool Inspector::reject(Mistake mistake, const void* address, const std::string& message) {
    races_.abandon();
    findings_.add(mistake, races_.current(address), {}, message);
    return false;
}

}  // namespace mini::sim
