#include "libmini/extras/cudasim/execution.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
void Execution::begin(const Operation& operation) {
    running_ = &operation;
    number_ = static_cast<uint32_t>(records_.size());
    is_abandoned_ = false;
    Record record;
    record.stamp = operation.stamp;
    record.call = operation.call;
    record.is_kernel = operation.kind == OperationKind::kKernel;
    record.name = operation.kind == OperationKind::kCopy ? "a copy" : "a fill";
    if (record.is_kernel) {
        record.name = short_name(function_at(operation.launch->kernel));
        record.grid = operation.launch->grid;
        record.block = operation.launch->block;
    }
    records_.push_back(std::move(record));
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
    accesses_.push_back({.operation = number_, .address = records_[number_].call});
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
    if (!records_[number_].is_kernel) return {address, name()};
    const Coordinates& at = running();
    return {address, name(), at.block_index, at.thread_index};
}

Place Execution::party(const Access& access, uint32_t lanes) const {
    const Record& record = records_[access.operation];
    if (!record.is_kernel) return {record.call, record.name};
    return {access.address, record.name, unravel(access.block, record.grid),
            unravel(access.warp * 32u + static_cast<unsigned>(std::countr_zero(lanes)),
                    record.block)};
}

uint32_t Execution::unordered_lanes(const Access& earlier, uint32_t lanes) const {
    if (is_own(earlier))
        return records_[number_].is_kernel
                   ? order_.unordered_lanes(earlier, lanes, running().thread)
                   : 0;
    const Stamp stamp = records_[earlier.operation].stamp;
    return precedes(stamp, running_->clock) ? 0 : lanes;
}

}  // namespace mini::sim
