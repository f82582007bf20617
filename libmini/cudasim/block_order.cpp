#include "libmini/cudasim/block_order.hpp"

#include <algorithm>

namespace mini::sim {

void BlockOrder::begin_block(uint32_t block, unsigned threads) {
    block_ = block;
    interval_ = 0;
    // A clock of 0 would precede everything, so each lane's own entry starts at 1.
    clocks_.assign((threads + 31) / 32 * 32, {});
    for (size_t thread = 0; thread < clocks_.size(); ++thread)
        clocks_[thread][thread % 32] = 1;
    fenced_.assign(clocks_.size(), false);
    seen_.clear();
}

void BlockOrder::warp_met(unsigned thread, unsigned mask) {
    const unsigned first = thread / 32 * 32;
    std::array<uint32_t, 32> joined{};
    const auto each = [&](auto&& visit) {
        for (unsigned lane = 0; lane < 32; ++lane)
            if ((mask >> lane & 1) != 0) visit(lane, clocks_[first + lane]);
    };
    each([&](unsigned, const auto& clock) {
        for (unsigned i = 0; i < 32; ++i) joined[i] = std::max(joined[i], clock[i]);
    });
    each([&](unsigned lane, auto& clock) {
        clock = joined;
        ++clock[lane];
    });
}

void BlockOrder::atomic(unsigned thread, uintptr_t address) {
    const auto found = published_.find(address);
    if (found != published_.end())
        seen_.insert(found->second.begin(), found->second.end());
    if (!fenced_[thread]) return;
    auto& blocks = published_[address];
    if (blocks.empty() || blocks.back() != block_) blocks.push_back(block_);
}

bool BlockOrder::precedes(const Access& earlier, unsigned thread) const {
    if (earlier.block != block_) return seen_.count(earlier.block) != 0;
    if (earlier.thread == thread || earlier.interval != interval_) return true;
    if (earlier.thread / 32 != thread / 32) return false;
    return clocks_[thread][earlier.thread % 32] >= earlier.clock;
}

}  // namespace mini::sim
