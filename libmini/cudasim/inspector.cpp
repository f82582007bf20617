#include "libmini/cudasim/inspector.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/cudasim/block.hpp"
#include "libmini/cudasim/memory.hpp"

namespace mini::sim {
namespace {

const void* call_before(const void* return_address) {
    return return_address == nullptr ? nullptr
                                     : static_cast<const char*>(return_address) - 1;
}

// The party of a copy or a fill, which has no thread.
Party party_of(const void* call, const std::string& what) {
    Party party;
    party.address = call;
    party.kernel = what;
    return party;
}

bool at_barrier(const ThreadState& state) {
    return state.at == ThreadState::At::kBlockBarrier;
}

}  // namespace

Inspector*& inspecting() {
    thread_local Inspector* inspector = nullptr;
    return inspector;
}

void Inspector::memory_allocated(const Allocation& allocation) {
    uint64_t none = 0;
    first_tracked_.compare_exchange_strong(none, allocation.id);
    memory_changed_ = true;
    if (guard_ != nullptr) guard_->allocated(allocation);
}

void Inspector::operation_given(const OperationInfo& info) {
    if (guard_ == nullptr) return;
    guard_->given(info);
    if (info.kind != OperationKind::kCopy && info.kind != OperationKind::kFill) return;
    const void* const call = calling_place();
    const std::lock_guard lock(given_mutex_);
    given_[info.id] = call;
}

void Inspector::host_waited(const Clock& clock) {
    if (guard_ != nullptr) guard_->waited(clock);
}

void Inspector::memory_freed(const Allocation&) { memory_changed_ = true; }

void Inspector::operation_begins(const OperationInfo& info) {
    if (info.kind == OperationKind::kHostFunction || info.kind == OperationKind::kMarker)
        return;
    running_.lock();
    if (guard_ != nullptr) guard_->begins(info);
    info_ = info;
    operation_ = static_cast<uint32_t>(known_.size());
    abandoned_ = false;
    Known known;
    known.stamp = info.stamp;
    known.is_kernel = info.kind == OperationKind::kKernel;
    known.kernel = info.kind == OperationKind::kCopy ? "a copy" : "a fill";
    if (known.is_kernel) {
        known.kernel = short_name(function_at(info.launch->kernel));
        known.grid = info.launch->grid;
        known.block = info.launch->block;
        if (log_ != nullptr) log_->begin_launch(known.kernel, known.grid, known.block);
    }
    {
        const std::lock_guard lock(given_mutex_);
        const auto call = given_.find(info.id);
        if (call != given_.end()) {
            known.call = call->second;
            given_.erase(call);
        }
    }
    known_.push_back(std::move(known));
    order_.begin_launch();
    array_of_.clear();

    // A copy or a fill accesses all its bytes in one step.
    if (info.kind == OperationKind::kKernel || findings_ == nullptr) return;
    const bool fill = info.kind == OperationKind::kFill;
    const Access access{.operation = operation_, .address = known_[operation_].call};
    const auto visit_memory = [&](const void* pointer, Mode mode) {
        if (pointer != nullptr && device_of(pointer) != kPageable)
            visit(reinterpret_cast<uintptr_t>(pointer), info.bytes, mode, access, false,
                  false);
    };
    if (!fill) visit_memory(info.from, Mode::kRead);
    visit_memory(info.to, Mode::kWrite);
    if (!fill && info.from != nullptr && device_of(info.from) >= 0 &&
        device_of(info.to) >= 0)
        copy_initialised(reinterpret_cast<uintptr_t>(info.to),
                         reinterpret_cast<uintptr_t>(info.from), info.bytes);
}

void Inspector::operation_ends(const OperationInfo& info) {
    if (info.kind == OperationKind::kHostFunction || info.kind == OperationKind::kMarker)
        return;
    if (guard_ != nullptr) guard_->ends(info);
    running_.unlock();
}

void Inspector::block_begins(const Launch& launch, const Coordinates& first) {
    const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
    order_.begin_block(first.block, threads);
    variables_ = thread_variables();
    dynamic_ = {dynamic_shared(), launch.shared_bytes};
    if (log_ != nullptr) log_->begin_block(threads);
    inspecting() = this;
}

void Inspector::block_ends(const Launch&, const Coordinates&) {
    inspecting() = nullptr;
    if (log_ != nullptr) log_->end_block();
}

void Inspector::block_synchronized(const Launch& launch, const Coordinates& one,
                                   std::span<const ThreadState> states) {
    order_.block_met();
    if (log_ != nullptr) log_->barrier();
    if (findings_ == nullptr || abandoned_) return;

    // All threads must wait at the same barrier call; none may have exited.
    const auto first = std::find_if(states.begin(), states.end(), at_barrier);
    if (first == states.end()) return;
    for (size_t i = 0; i < states.size(); ++i) {
        const bool gone = states[i].at == ThreadState::At::kExited;
        if (!gone && states[i].address == first->address) continue;
        const auto party = [&](const ThreadState& state, size_t thread) {
            return Party{call_before(state.address), known_[operation_].kernel,
                         one.block_index,
                         unravel(static_cast<unsigned>(thread), launch.block)};
        };
        const Party waits = party(*first, static_cast<size_t>(first - states.begin()));
        Party other = party(states[i], i);
        if (findings_->met(Mistake::kBarrier, waits.address, other.address)) return;
        findings_->add(
            Mistake::kBarrier, waits, other,
            gone ? "a thread of the block has returned before this __syncthreads(): all "
                   "threads must reach it; let those without work skip the work, not the "
                   "barrier"
                 : "threads of one block wait at two different __syncthreads(): take the "
                   "barrier out of the branch");
        return;
    }
}

void Inspector::warp_synchronized(const Launch&, const Coordinates& one, unsigned mask) {
    order_.warp_met(one.thread, mask);
}

void Inspector::block_stuck(const Launch& launch, const Coordinates& one,
                            std::span<const ThreadState> states) {
    if (findings_ == nullptr || abandoned_) return;
    // Report one waiting thread, and one that waits elsewhere or has exited.
    const auto waits = std::find_if(
        states.begin(), states.end(),
        [](const ThreadState& s) { return s.at == ThreadState::At::kWarpBarrier; });
    if (waits == states.end()) return;
    const auto other =
        std::find_if(states.begin(), states.end(), [&](const ThreadState& s) {
            return s.at != waits->at || s.address != waits->address ||
                   s.mask != waits->mask;
        });
    const auto party = [&](auto state) {
        return state == states.end()
                   ? Party{}
                   : Party{call_before(state->address), known_[operation_].kernel,
                           one.block_index,
                           unravel(static_cast<unsigned>(state - states.begin()),
                                   launch.block)};
    };
    findings_->add(
        Mistake::kBarrier, party(waits), party(other),
        "a warp waits for lanes of its mask that never arrive: no thread of the "
        "block can continue");
}

Access Inspector::this_access(Mode mode, const void* address) const {
    const unsigned thread = running().thread;
    return {.operation = operation_,
            .block = order_.block(),
            .interval = order_.interval(),
            .clock = order_.clock(thread),
            .thread = static_cast<uint16_t>(thread),
            .atomic = mode == Mode::kAtomic,
            .address = address};
}

Party Inspector::here(const void* address) const {
    const Coordinates& at = running();
    return {address, known_[operation_].kernel, at.block_index, at.thread_index};
}

Party Inspector::party(const Access& access) const {
    const Known& known = known_[access.operation];
    if (!known.is_kernel) return party_of(known.call, known.kernel);
    return {access.address, known.kernel, unravel(access.block, known.grid),
            unravel(access.thread, known.block)};
}

// Adds a finding of the running thread, or of the running copy or fill.
void Inspector::report(Mistake mistake, const void* at, const Party& other,
                       std::string message) {
    const Party party =
        known_[operation_].is_kernel ? here(at) : party_of(at, known_[operation_].kernel);
    findings_->add(mistake, party, other, std::move(message));
}

void Inspector::fence() { order_.fence(running().thread); }

void Inspector::exchange(unsigned mask, int from, const void* address) {
    const unsigned lane = running().thread % 32;
    const bool inside = (mask >> lane & 1) != 0;
    const bool source = from < 0 || (mask >> from & 1) != 0;
    if (findings_ == nullptr || (inside && source)) return;
    if (findings_->met(Mistake::kWarpMask, address, nullptr)) return;
    report(Mistake::kWarpMask, address, {},
           inside ? concat("lane ", lane, " reads the value of lane ", from,
                           ", which is not in the mask: the result is undefined")
                  : concat("lane ", lane, " takes part, but is not in the mask"));
}

}  // namespace mini::sim
