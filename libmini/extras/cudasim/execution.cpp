#include "libmini/extras/cudasim/execution.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

// The party of a copy or a fill, which has no thread.
Party party_of(const void* call, const std::string& what) {
    Party party;
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

Access Execution::thread_access(Mode mode, const void* address) const {
    const unsigned thread = running().thread;
    return {.operation = number_,
            .block = order_.block(),
            .interval = order_.interval(),
            .clock = order_.clock(thread),
            .thread = static_cast<uint16_t>(thread),
            .atomic = mode == Mode::kAtomic,
            .lanes = 1u << thread % 32,
            .address = address};
}

Access Execution::copy_access() const {
    return {.operation = number_, .address = operations_[number_].call};
}

Party Execution::current(const void* address) const {
    if (!operations_[number_].is_kernel) return party_of(address, name());
    const Coordinates& at = running();
    return {address, name(), at.block_index, at.thread_index};
}

Party Execution::party(const Access& access) const {
    const Operation& operation = operations_[access.operation];
    if (!operation.is_kernel) return party_of(operation.call, operation.name);
    return {access.address, operation.name, unravel(access.block, operation.grid),
            unravel(access.thread / 32 * 32 +
                        static_cast<unsigned>(std::countr_zero(access.lanes)),
                    operation.block)};
}

uint32_t Execution::unordered_lanes(const Access& earlier) const {
    if (earlier.operation == number_)
        return operations_[number_].is_kernel
                   ? order_.unordered_lanes(earlier, running().thread)
                   : 0;
    const Stamp stamp = operations_[earlier.operation].stamp;
    return precedes(stamp, info_.clock) ? 0 : earlier.lanes;
}

}  // namespace mini::sim
