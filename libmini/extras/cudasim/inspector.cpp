#include "libmini/extras/cudasim/inspector.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/settings.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

namespace {

// A thread that reads the same value this often spins; fewer after the first finding.
constexpr uint32_t kMaxPolls = 20'000;
constexpr uint32_t kFewPolls = 512;

bool accesses_memory(const Operation& operation) {
    return operation.kind != OperationKind::kHostFunction &&
           operation.kind != OperationKind::kMarker;
}

bool at_barrier(const ThreadState& state) {
    return state.at == ThreadState::At::kBlockBarrier;
}

// Returns the inspector of the block that runs on this host thread, or null.
Inspector*& inspecting() {
    thread_local Inspector* inspector = nullptr;
    return inspector;
}

// Calls the inspector, and disables it meanwhile: a function that the inspector calls may
// be instrumented too, if the linker took a standard library function from a kernel's
// object file.
void inspect(const auto& body) {
    if (Inspector* const inspector = std::exchange(inspecting(), nullptr)) {
        body(*inspector);
        inspecting() = inspector;
    }
}

}  // namespace

namespace detail {

void tell_access(const MemoryAccess& access) {
    auto next = Inspector::Next::kContinue;
    inspect([&](Inspector& i) { next = i.access(access); });
    if (next == Inspector::Next::kAbandon) abandon_thread();
    if (next == Inspector::Next::kYield) yield_thread();
}

void tell_fence(Scope scope) {
    inspect([&](Inspector& i) { i.fence(scope); });
}

void tell_exchange(unsigned mask, int from, const void* address) {
    inspect([&](Inspector& i) { i.exchange(mask, from, address); });
}

}  // namespace detail

void note_atomic(const void* pointer, size_t bytes) {
    if (is_inspected())
        detail::tell_access({pointer, bytes, bytes, Mode::kAtomic,
                             instruction_before(__builtin_return_address(0))});
}

void note_exchange(unsigned mask, int from) {
    if (is_inspected())
        detail::tell_exchange(mask, from,
                              instruction_before(__builtin_return_address(0)));
}

Inspector::Inspector(Findings* findings, AccessLog* log)
    : findings_(findings), log_(log) {
    if (findings == nullptr) return;
    guard_.emplace(findings);
    races_.emplace(*findings, execution_, memory_);
}

void Inspector::memory_allocated(const Allocation& allocation) {
    memory_.allocated(allocation);
    if (guard_) guard_->allocated(allocation);
}

void Inspector::operation_given(Operation& operation) {
    if (!guard_) return;
    guard_->given(operation);
    if (operation.kind == OperationKind::kCopy || operation.kind == OperationKind::kFill)
        operation.call = calling_place();
}

void Inspector::host_waited(const Clock& clock) {
    if (guard_) guard_->waited(clock);
}

void Inspector::memory_freed(const Allocation& allocation) {
    memory_.freed();
    if (guard_) guard_->freed(allocation);
}

void Inspector::operation_begins(const Operation& operation) {
    if (!accesses_memory(operation)) return;
    running_.lock();
    if (guard_) guard_->begins();
    execution_.begin(operation);
    if (log_ != nullptr && operation.kind == OperationKind::kKernel)
        log_->begin_launch(execution_.name(), operation.launch->grid,
                           operation.launch->block);
    devices_ = all_memory();
    array_of_.clear();
    recent_ = {};
    if (races_ && operation.kind != OperationKind::kKernel) races_->visit_copy(operation);
}

void Inspector::operation_ends(const Operation& operation) {
    if (!accesses_memory(operation)) return;
    if (guard_) guard_->ends();
    running_.unlock();
}

std::vector<uint32_t> Inspector::block_order(uint32_t blocks) {
    return order_of_blocks(blocks, findings_ == nullptr ? 0 : block_seed());
}

void Inspector::block_begins(const Launch& launch, unsigned block) {
    const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
    if (races_) races_->forget_accesses();
    execution_.begin_block(block, threads);
    memory_.begin_block(thread_variables(), {dynamic_shared(), launch.shared_bytes},
                        execution_.name());
    spins_.begin_block(threads);
    if (log_ != nullptr) log_->begin_block(threads);
    inspecting() = this;
}

void Inspector::block_ends() {
    inspecting() = nullptr;
    if (races_) races_->settle();
    if (log_ != nullptr) log_->end_block();
}

// Returns a thread of the running block, at the call that returns to an address.
Place Inspector::place_of(size_t thread, const void* return_address) {
    const Launch& launch = *execution_.operation().launch;
    const void* const call = return_address == nullptr
                                 ? nullptr
                                 : static_cast<const char*>(return_address) - 1;
    return {call, execution_.name(), unravel(execution_.order().block(), launch.grid),
            unravel(static_cast<unsigned>(thread), launch.block)};
}

void Inspector::block_synchronized(std::span<const ThreadState> states) {
    execution_.order().block_met();
    if (log_ != nullptr) log_->barrier();
    if (findings_ == nullptr || execution_.is_abandoned()) return;

    // All threads must wait at the same barrier call; none may have exited.
    const auto first = std::find_if(states.begin(), states.end(), at_barrier);
    if (first == states.end()) return;
    for (size_t i = 0; i < states.size(); ++i) {
        const bool gone = states[i].at == ThreadState::At::kExited;
        if (!gone && states[i].address == first->address) continue;
        const Place waits =
            place_of(static_cast<size_t>(first - states.begin()), first->address);
        const Place other = place_of(i, states[i].address);
        findings_->add(
            Mistake::kBarrier, waits, other,
            gone ? "a thread of the block has ended without this __syncthreads(): all "
                   "threads must reach it; let those without work skip the work, not the "
                   "barrier"
                 : "threads of one block wait at two different __syncthreads(): take the "
                   "barrier out of the branch");
        return;
    }
}

void Inspector::warp_synchronized(unsigned thread, unsigned mask) {
    execution_.order().warp_met(thread, mask);
}

void Inspector::lane_exited(unsigned thread, const void* address, int from) {
    if (findings_ == nullptr || execution_.is_abandoned()) return;
    const unsigned lane = thread % 32;
    const Place reads = place_of(thread, address);
    findings_->add(
        Mistake::kWarpMask, reads,
        place_of(thread - lane + static_cast<unsigned>(from), nullptr),
        concat("lane ", lane, " reads the value of lane ", from,
               ", which is in the mask, but has ended without this call: the result is "
               "undefined; take the shuffle out of the branch"));
}

void Inspector::block_stuck(std::span<const ThreadState> states) {
    if (findings_ == nullptr || execution_.is_abandoned()) return;
    // Report one waiting thread, and another that waits elsewhere or has exited.
    const auto waits = std::find_if(
        states.begin(), states.end(),
        [](const ThreadState& s) { return s.at == ThreadState::At::kWarpBarrier; });
    if (waits == states.end()) return;
    const auto other =
        std::find_if(states.begin(), states.end(), [&](const ThreadState& s) {
            return s.at != waits->at || s.address != waits->address ||
                   s.mask != waits->mask;
        });
    const auto place = [&](auto state) {
        return state == states.end()
                   ? Place{}
                   : place_of(static_cast<size_t>(state - states.begin()),
                              state->address);
    };
    findings_->add(
        Mistake::kBarrier, place(waits), place(other),
        "a warp waits for lanes of its mask that never arrive: no thread of the "
        "block can continue");
}

Inspector::Next Inspector::access(const MemoryAccess& access) {
    if (on_own_stack(access.pointer)) return Next::kContinue;
    if (!may_access(access)) return Next::kAbandon;
    if (findings_ == nullptr) return Next::kContinue;
    const uint32_t limit = execution_.is_abandoned() ? kFewPolls : kMaxPolls;
    const auto result = spins_.access(running().thread, access, limit);
    if (result == Spins::Result::kNone) return Next::kContinue;
    if (result == Spins::Result::kYield) return Next::kYield;

    execution_.abandon();
    findings_->add(
        Mistake::kSpin, execution_.current(access.address), {},
        concat("waits for a value at ",
               memory_.describe(access.at(), device_of(access.pointer) == kPageable),
               " that no other thread of the block will change. CUDA promises no order "
               "of the blocks, and need not start a block before another has ended "
               "(here they ran in the order of MINI_SIM_BLOCK_SEED=",
               block_seed(), "): let no block wait for another, or use two launches"));
    return Next::kAbandon;
}

void Inspector::fence(Scope scope) { execution_.order().fence(running().thread, scope); }

void Inspector::exchange(unsigned mask, int from, const void* address) {
    const unsigned lane = running().thread % 32;
    const bool inside = (mask >> lane & 1) != 0;
    const bool source = from < 0 || (mask >> from & 1) != 0;
    if (findings_ == nullptr || (inside && source)) return;
    findings_->add(Mistake::kWarpMask, execution_.current(address), {},
                   inside ? concat("lane ", lane, " reads the value of lane ", from,
                                   ", which is not in the mask: the result is undefined")
                          : concat("lane ", lane, " takes part, but is not in the mask"));
}

}  // namespace mini::sim
