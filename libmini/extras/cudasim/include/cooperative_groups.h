// Cooperative groups: a block, lanes of a warp, or a grid.

#pragma once

#include "libmini/extras/cudasim/program.hpp"

namespace cooperative_groups {

/// The threads of a block, or some lanes of a warp.
class thread_group {
  public:
    MINI_WORD explicit thread_group(unsigned lanes) : lanes_(lanes) {}
    MINI_WORD void sync() const {
        if (lanes_ == 0)
            __syncthreads();
        else
            __syncwarp(lanes_);
    }
    MINI_WORD unsigned thread_rank() const {
        const unsigned thread = mini::sim::running().thread;
        return lanes_ == 0 ? thread : __popc(lanes_ & ~(~0u << thread % 32));
    }
    MINI_WORD unsigned size() const {
        return lanes_ == 0 ? unsigned(mini::sim::count(blockDim)) : __popc(lanes_);
    }
    MINI_WORD unsigned num_threads() const { return size(); }

  protected:
    unsigned lanes_;  // bit i: lane i; 0: the block
};

class thread_block : public thread_group {
  public:
    MINI_WORD thread_block() : thread_group(0) {}
    MINI_WORD static dim3 group_index() { return blockIdx; }
    MINI_WORD static dim3 thread_index() { return threadIdx; }
    MINI_WORD static dim3 group_dim() { return blockDim; }
};
MINI_WORD thread_block this_thread_block() { return {}; }

/// Lanes of a warp, numbered from 0 up without gaps.
class coalesced_group : public thread_group {
  public:
    using thread_group::thread_group;
    template <typename T>
    MINI_WORD T shfl(T value, unsigned from) const {
        return __shfl_sync(lanes_, value, lane(from % size()));
    }
#define MINI_SHUFFLE_OF_GROUP(name, from)                 \
    template <typename T>                                 \
    MINI_WORD T name(T value, unsigned by) const {        \
        const unsigned self = thread_rank();              \
        return shfl(value, from);                         \
    }
    MINI_SHUFFLE_OF_GROUP(shfl_down, self + by < size() ? self + by : self)
    MINI_SHUFFLE_OF_GROUP(shfl_up, self >= by ? self - by : self)
    MINI_SHUFFLE_OF_GROUP(shfl_xor, self ^ by)
    MINI_WORD int any(int predicate) const { return __any_sync(lanes_, predicate); }
    MINI_WORD int all(int predicate) const { return __all_sync(lanes_, predicate); }
    MINI_WORD unsigned ballot(int predicate) const {
        const unsigned votes = __ballot_sync(lanes_, predicate);
        unsigned packed = 0;
        for (unsigned i = 0; i < size(); ++i) packed |= (votes >> lane(i) & 1) << i;
        return packed;
    }

  private:
    MINI_WORD int lane(unsigned rank) const {
        unsigned left = lanes_;
        for (; rank > 0; --rank) left &= left - 1;
        return __builtin_ctz(left);
    }
};
MINI_WORD coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// A tile of `size` threads, which is a power of two up to 32.
MINI_WORD coalesced_group tiled_partition(const thread_group&, unsigned size) {
    const unsigned lane = mini::sim::running().thread % 32;
    return coalesced_group((~0u >> (32 - size)) << lane / size * size);
}
template <unsigned Size, typename Parent = thread_block>
class thread_block_tile : public coalesced_group {
  public:
    MINI_WORD explicit thread_block_tile(const Parent& parent)
        : coalesced_group(tiled_partition(parent, Size)) {}
    MINI_WORD static constexpr unsigned size() { return Size; }
    MINI_WORD unsigned meta_group_rank() const {
        return mini::sim::running().thread / Size;
    }
    MINI_WORD unsigned meta_group_size() const {
        return (thread_block().size() + Size - 1) / Size;
    }
};
template <unsigned Size, typename Parent>
MINI_WORD thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    return thread_block_tile<Size, Parent>(parent);
}

class grid_group {
  public:
    MINI_WORD static uint64_t block_rank() { return mini::sim::running().block; }
    MINI_WORD static uint64_t num_blocks() { return mini::sim::count(gridDim); }
    MINI_WORD static uint64_t size() { return num_blocks() * thread_block().size(); }
    MINI_WORD static uint64_t thread_rank() {
        return block_rank() * thread_block().size() + thread_block().thread_rank();
    }
    MINI_WORD static void sync() { MINI_UNMERGED mini::sim::grid_barrier(); }
};
MINI_WORD grid_group this_grid() { return {}; }

MINI_WORD void sync(const auto& group) { group.sync(); }

// clang-format off
#define MINI_COMBINE(name, value) \
    template <typename T> struct name { MINI_WORD T operator()(T a, T b) const { return value; } };
MINI_COMBINE(plus, a + b)
MINI_COMBINE(less, b < a ? b : a)
MINI_COMBINE(greater, a < b ? b : a)
// clang-format on

template <typename T, typename F = plus<T>>
MINI_WORD T inclusive_scan(const auto& group, T value, F f = {}) {
    for (unsigned by = 1; by < group.size(); by *= 2) {
        const T before = group.shfl_up(value, by);
        if (group.thread_rank() >= by) value = f(before, value);
    }
    return value;
}
template <typename T, typename F>
MINI_WORD T reduce(const auto& group, T value, F f) {
    return group.shfl(inclusive_scan(group, value, f), group.size() - 1);
}

}  // namespace cooperative_groups
