#include "libmini/extras/cudasim/execution.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

// The party of a copy or a fill, which has no thread.
Place party_of(const void* call, const std::string& what) {
    Place party;
    party.address = call;
    party.kernel = what;
    return party;
}

}  // namespace

void Execution::begin(const OperationInfo& info, const void* call) {
    info_ = info;
    number_ = static_cast<uint32_t>(operations_.size());
    is_abandoned_ = false;
    Operation operation;
    operation.stamp = info.stamp;
    operation.call = call;
    operation.is_kernel = info.kind == OperationKind::kKernel;
    operation.name = info.kind == OperationKind::kCopy ? "a copy" : "a fill";
    if (operation.is_kernel) {
        operation.name = short_name(function_at(info.launch->kernel));
        operation.grid = info.launch->grid;
        operation.block = info.launch->block;
    }
    operations_.push_back(std::move(operation));
    order_.begin_launch();
}

void Execution::begin_block(uint32_t block, unsigned threads) {
    order_.begin_block(block, threads);
    first_of_block_ = next_access();
}

Accessor Execution::thread_access(bool atomic, const void* address) {
    const unsigned thread = running().thread;
    const Access now{.operation = number_,
                     .block = order_.block(),
                     .interval = order_.interval(),
                     .clock = order_.clock(thread),
                     .warp = static_cast<uint16_t>(thread / 32),
                     .atomic = atomic,
                     .address = address};
    // The lanes of a warp execute the instruction soon after each other.
    uint32_t& number = recent_[reinterpret_cast<uintptr_t>(address) % recent_.size()];
    if (accesses_[number] != now) {
        number = next_access();
        accesses_.push_back(now);
    }
    return {.access = number, .lanes = 1u << thread % 32};
}

Accessor Execution::copy_access() {
    accesses_.push_back({.operation = number_, .address = operations_[number_].call});
    return {.access = next_access() - 1, .lanes = 1};
}

void Execution::forget_accesses(std::vector<uint32_t>& numbers) {
    uint32_t kept = 1;
    for (size_t i = 1; i < numbers.size(); ++i) {
        if (numbers[i] == 0) continue;
        numbers[i] = kept;
        accesses_[kept++] = accesses_[i];
    }
    accesses_.resize(kept);
    recent_.fill(0);
}

Place Execution::current(const void* address) const {
    if (!operations_[number_].is_kernel) return party_of(address, name());
    const Coordinates& at = running();
    return {address, name(), at.block_index, at.thread_index};
}

Place Execution::party(const Access& access, uint32_t lanes) const {
    const Operation& operation = operations_[access.operation];
    if (!operation.is_kernel) return party_of(operation.call, operation.name);
    return {access.address, operation.name, unravel(access.block, operation.grid),
            unravel(access.warp * 32u + static_cast<unsigned>(std::countr_zero(lanes)),
                    operation.block)};
}

uint32_t Execution::unordered_lanes(const Access& earlier, uint32_t lanes) const {
    if (is_own(earlier))
        return operations_[number_].is_kernel
                   ? order_.unordered_lanes(earlier, lanes, running().thread)
                   : 0;
    const Stamp stamp = operations_[earlier.operation].stamp;
    return precedes(stamp, info_.clock) ? 0 : lanes;
}

}  // namespace mini::sim
