#include "libmini/extras/cudasim/race_checker.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace mini::sim {

void BlockOrder::begin_block(uint32_t block, unsigned threads) {
    block_ = block;
    interval_ = 0;
    // A clock of 0 would precede everything, so each lane's own entry starts at 1.
    clocks_.assign((threads + 31) / 32 * 32, {});
    for (size_t thread = 0; thread < clocks_.size(); ++thread)
        clocks_[thread][thread % 32] = 1;
    if (has_fences_ || threads_.size() != clocks_.size())
        threads_.assign(clocks_.size(), {});
    has_fences_ = false;
    common_ = {};
    published_here_.clear();
}

void BlockOrder::block_met() {
    ++interval_;
    if (!has_fences_) return;
    for (Knowledge& thread : threads_) {
        join(common_, thread);
        thread = {};
    }
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
    if (!has_fences_) return;
    Knowledge all;
    each([&](unsigned lane, const auto&) { join(all, threads_[first + lane]); });
    each([&](unsigned lane, const auto&) { threads_[first + lane] = all; });
}

void BlockOrder::fence(unsigned thread, Scope scope) {
    const Pasts past = past_of(thread);
    join(threads_[thread].for_block, past);
    if (scope == Scope::kDevice) join(threads_[thread].for_device, past);
    ++clocks_[thread][thread % 32];  // later accesses are not in `past`
    has_fences_ = true;
}

// Returns everything that happens before the thread's next access.
BlockOrder::Pasts BlockOrder::past_of(unsigned thread) const {
    Past own;
    own.interval = interval_;
    own.clocks.assign(clocks_.size(), 0);
    std::copy(clocks_[thread].begin(), clocks_[thread].end(),
              own.clocks.begin() + thread / 32 * 32);
    Pasts all = {{block_, std::make_shared<const Past>(std::move(own))}};
    join(all, common_.past);
    join(all, threads_[thread].past);
    return all;
}

void BlockOrder::atomic(unsigned thread, uintptr_t address, bool shared) {
    if (!has_fences_ && published_.empty()) return;
    Knowledge& own = threads_[thread];
    const auto meet = [&](auto& published, const Pasts& mine, const Pasts& common) {
        if (const auto found = published.find(address); found != published.end()) {
            join(own.past, found->second);
            has_fences_ = true;
        }
        if (mine.empty() && common.empty()) return;
        Pasts& all = published[address];
        join(all, common);
        join(all, mine);
    };
    meet(published_here_, own.for_block, common_.for_block);
    if (!shared) meet(published_, own.for_device, common_.for_device);
}

uint32_t BlockOrder::unordered_lanes(const Access& earlier, uint32_t lanes,
                                     unsigned thread) const {
    const bool same_block = earlier.block == block_;
    if (same_block && earlier.interval != interval_) return 0;
    const bool same_warp = same_block && earlier.warp == thread / 32;
    if (!same_warp && !has_fences_) return lanes;

    uint32_t unordered = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        if (same_warp && (lane == thread % 32 || clocks_[thread][lane] >= earlier.clock))
            continue;
        if (!has_fences_ || !knows(thread, earlier, lane)) unordered |= 1u << lane;
    }
    return unordered;
}

// Returns whether an atomic has ordered the earlier access by this lane.
bool BlockOrder::knows(unsigned thread, const Access& earlier, unsigned lane) const {
    return std::ranges::any_of(
        std::array{&common_.past, &threads_[thread].past}, [&](auto* pasts) {
            const auto found = pasts->find(earlier.block);
            return found != pasts->end() &&
                   (earlier.interval < found->second->interval ||
                    earlier.clock <= found->second->clocks[earlier.warp * 32u + lane]);
        });
}

void BlockOrder::join(Pasts& into, const Pasts& from) {
    for (const auto& [block, past] : from) {
        std::shared_ptr<const Past>& mine = into[block];
        if (mine == nullptr) mine = past;
        if (mine == past) continue;
        Past both = *mine;
        both.interval = std::max(both.interval, past->interval);
        for (size_t i = 0; i < both.clocks.size(); ++i)
            both.clocks[i] = std::max(both.clocks[i], past->clocks[i]);
        mine = std::make_shared<const Past>(std::move(both));
    }
}

void BlockOrder::join(Knowledge& into, const Knowledge& from) {
    join(into.past, from.past);
    join(into.for_block, from.for_block);
    join(into.for_device, from.for_device);
}

}  // namespace mini::sim
