// Faults of threads that meet or pass each other: races, barriers, warps, and blocks that wait.

#include <cooperative_groups.h>
#include <cub/cub.cuh>

#include "faults.h"

__device__ int finished, sums[4];

// ---- races ----

FAULT("race", reverse, 1, 64) {
    __shared__ int s[64];
    s[T] = a[T];
    if (!wrong) __syncthreads();
    b[T] = s[63 - T];
}
FAULT("race", two_block_sums_in_one_storage, 1, 64) {
    __shared__ cub::BlockReduce<int, 64>::TempStorage storage;
    const int sum = cub::BlockReduce<int, 64>(storage).Sum(a[T]);
    if (!wrong) __syncthreads();
    const int twice = cub::BlockReduce<int, 64>(storage).Sum(2 * a[T]);
    if (T == 0) b[0] = sum + twice;
}
FAULT("race", reverse_by_group, 1, 64) {
    __shared__ int s[64];
    const auto block = cooperative_groups::this_thread_block();
    s[block.thread_rank()] = a[T];
    if (!wrong) block.sync();
    b[T] = s[block.size() - 1 - block.thread_rank()];
}
FAULT("race", sum_of_a_tile, 1, 64) {
    __shared__ int s[64];
    const auto tile =
        cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    s[T] = a[T];
    if (!wrong) tile.sync();
    b[T] = s[T / 16 * 16 + (tile.thread_rank() + 1) % tile.size()];
}
FAULT("race", tree_sum, 1, 128) {
    __shared__ int s[128];
    s[T] = a[T];
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (T < k) s[T] += s[T + k];
        if (!wrong) __syncthreads();
    }
}
FAULT("race", tail_of_one_warp, 1, 32) {
    __shared__ int s[32];
    s[T] = a[T];
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        if (T < k) s[T] += s[T + k];
        if (!wrong) __syncwarp();
    }
}
FAULT("race", structure_of_a_function, 1, 32) {
    struct Six {
        int values[6];
    };
    const auto six_from = [](int first) {
        Six six;
        for (int i = 0; i < 6; ++i) six.values[i] = first + i;
        return six;
    };
    Six* const sixes = reinterpret_cast<Six*>(b);
    sixes[wrong ? 0 : T] = T % 2 ? six_from(a[T]) : six_from(a[T] + 1);
}
FAULT("race", array_used_again, 1, 64) {
    __shared__ int s[64];
    for (int round = 0; round < 2; ++round) {
        s[T] = a[T] + round;
        __syncthreads();
        b[T] = s[0];
        if (!wrong) __syncthreads();
    }
}
FAULT("race", scan_in_place, 1, 64) {
    __shared__ int s[64];
    s[T] = a[T];
    __syncthreads();
    for (int k = 1; k < 64; k *= 2) {
        const int left = T >= k ? s[T - k] : 0;
        if (!wrong) __syncthreads();
        s[T] += left;
        __syncthreads();
    }
}
FAULT("race", transposed_tile, 1, 64) {
    __shared__ int tile[8][9];
    tile[T / 8][T % 8] = a[T];
    if (!wrong) __syncthreads();
    b[T] = tile[T % 8][T / 8];
}
FAULT("race", neighbours_of_a_warp, 1, 32) {
    __shared__ int s[32];
    s[T] = a[T];
    if (!wrong) __syncwarp();
    b[T] = s[T ^ 1];
}
FAULT("race", counter_not_cleared_yet, 1, 64) {
    __shared__ int count;
    if (T == 0) count = 0;
    if (!wrong) __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    b[T] = count;
}
FAULT("race", counter_read_too_early, 1, 64) {
    __shared__ int count;
    if (T == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    if (!wrong) __syncthreads();
    b[T] = count;
}
FAULT("race", two_of_three_barriers, 1, 64) {
    __shared__ int s[2][64];
    s[0][T] = a[T];
    __syncthreads();
    s[1][T] = s[0][(T + 1) % 64];
    if (!wrong) __syncthreads();
    s[0][T] = s[1][T];
    __syncthreads();
    b[T] = s[0][T];
}
FAULT("race", global_histogram, 1, 64) {
    if (wrong)
        ++a[T % 8];
    else
        atomicAdd(&a[T % 8], 1);
}
FAULT("race", bits_of_one_word, 1, 64) {
    if (wrong)
        a[T / 32] |= 1 << T % 32;
    else
        atomicOr(&a[T / 32], 1 << T % 32);
}
FAULT("race", shift_in_place, 1, 64) {
    const int right = a[T + 1];
    if (!wrong) __syncthreads();
    a[T] = right;
}
FAULT("race", other_block_s_output, 2, 64) {
    a[I] = I;
    b[I] = a[wrong ? (I + 64) % 128 : I];
}
FAULT("race", total_of_blocks, 4, 32) {
    if (T > 0) return;
    if (wrong)
        a[0] += blockIdx.x + 1;
    else
        atomicAdd(&a[0], blockIdx.x + 1);
}
FAULT("race", no_grid_stride, 2, 64) {
    for (int i = wrong ? T : I; i < n; i += wrong ? 64 : 128) a[i] = blockIdx.x;
}
FAULT("race", lock_without_fence, 4, 1) {
    while (atomicCAS(&a[0], 0, 1) != 0) {
    }
    if (!wrong) __threadfence();
    a[1] += 1;
    if (!wrong) __threadfence();
    atomicExch(&a[0], 0);
}
FAULT("race", last_block_without_fence, 4, 1) {
    sums[blockIdx.x] = blockIdx.x;
    if (!wrong) __threadfence();
    if (atomicAdd(&finished, 1) % 4 < 3) return;
    if (!wrong) __threadfence();
    for (int i = 0; i < 4; ++i) a[0] += sums[i];
}

FAULT("race", flag_that_is_not_volatile, 2, 1) {
    int* const flag = &a[0];
    if (blockIdx.x == 0)
        wrong ? * flag = 1 : *(volatile int*)flag = 1;
    else
        b[0] = *(volatile int*)flag;
}
FAULT("race", volatile_flag_without_fence, 2, 1) {
    volatile int* const flag = &a[0];
    if (atomicAdd(&finished, 1) % 2 == 0) {  // the block that runs first
        a[1] = 5;
        if (!wrong) __threadfence();
        *flag = 1;
    } else if (*flag == 1) {
        if (!wrong) __threadfence();
        b[0] = a[1];
    }
}

// ---- the same value from several threads ----

constexpr const char* kNote = "note: the same value from several threads";
FAULT(kNote, flag, 1, 64) {
    if (wrong || T == 0) a[0] = 1;
}
FAULT(kNote, shared_flag, 1, 64) {
    __shared__ bool found;
    if (T == 0) found = false;
    __syncthreads();
    if (wrong ? a[T] > 5 : T == 6) found = true;
    __syncthreads();
    b[T] = found;
}
FAULT(kNote, result_of_all_lanes, 1, 32) {
    const int sum = __shfl_sync(~0u, a[T], 7);
    if (wrong || T == 0) b[0] = sum;
}
FAULT(kNote, each_block_its_extent, 3, 1) {
    if (wrong || blockIdx.x == 0) b[0] = gridDim.x;
}

// ---- barriers ----

constexpr const char* kBarrier = "barrier not reached by all";
FAULT(kBarrier, barrier_in_a_branch, 1, 64) {
    if (T < 32) {
        a[T] = T;
        if (wrong) __syncthreads();
    }
    if (!wrong) __syncthreads();
}
FAULT(kBarrier, early_return, 1, 64) {
    if (wrong && T >= 50) return;
    if (T < 50) a[T] = T;
    __syncthreads();
}
FAULT(kBarrier, loop_of_each_thread, 1, 64) {
    for (int i = 0; i < (wrong ? T % 3 : 3); ++i) __syncthreads();
}
FAULT(kBarrier, two_branches, 1, 64) {
    if (!wrong)
        __syncthreads();
    else if (T % 2 == 0)
        __syncthreads();
    else
        __syncthreads();
}
FAULT(kBarrier, grid_sync_without_cooperative_launch, 2, 32) {
    if (wrong) cooperative_groups::this_grid().sync();
}
FAULT(kBarrier, half_a_warp_waits, 1, 32) {
    if (!wrong || T < 16) __syncwarp();
    __syncthreads();
}
FAULT(kBarrier, vote_that_meets_a_barrier, 1, 32) {
    if (!wrong || T % 2 == 0) b[T] = __ballot_sync(~0u, a[T] > 3);
    __syncwarp();
}
FAULT(kBarrier, shuffle_that_meets_a_vote, 1, 32) {
    if (wrong && T < 16)
        b[T] = __shfl_xor_sync(~0u, a[T], 1);
    else
        b[T] = __any_sync(~0u, a[T] == 7);
}
FAULT(kBarrier, one_atomic_for_the_lanes_of_a_branch, 1, 64) {
    if (T % 3 == 1) {
        const unsigned lanes = wrong ? ~0u : __activemask();
        const int leader = __ffs(lanes) - 1;
        const int first = T % 32 == leader ? atomicAdd(&a[0], __popc(lanes)) : 0;
        b[T] = __shfl_sync(lanes, first, leader);
    }
    __syncthreads();
}
FAULT(kBarrier, group_of_the_lanes_of_a_branch, 1, 64) {
    namespace cg = cooperative_groups;
    if (T % 3 == 1)
        b[T] = (wrong ? cg::coalesced_group(~0u) : cg::coalesced_threads()).shfl(a[T], 0);
    __syncthreads();
}

// ---- warps ----

constexpr const char* kMask = "wrong warp mask";
FAULT(kMask, mask_of_a_half, 1, 32) {
    b[T] = __shfl_down_sync(wrong ? 0xffff : ~0u, a[T], 8, 16);
}
FAULT(kMask, vote_of_a_half, 1, 32) {
    if (wrong || T < 16) b[T] = __ballot_sync(0xffff, a[T] > 3);
}
FAULT(kMask, source_outside_of_the_mask, 1, 32) {
    if (T < 8) b[T] = __shfl_sync(0xff, a[T], wrong ? 9 : 7);
}
FAULT(kMask, lane_has_ended, 1, 32) {
    if (wrong && T >= 16) return;
    b[T] = __shfl_xor_sync(~0u, a[T], 16);
}
FAULT(kMask, warp_that_is_not_full, 1, 40) {
    if (wrong || T < 32) b[T] = __shfl_down_sync(~0u, a[T], 4);
}

// ---- blocks that wait for blocks ----

constexpr const char* kSpin = "waits forever";
FAULT(kSpin, waits_for_the_block_before, 3, 1) {
    while (wrong && atomicAdd(&a[0], 0) < (int)blockIdx.x) {
    }
    atomicAdd(&a[0], 1);
}
FAULT(kSpin, waits_for_all_blocks, 3, 1) {
    atomicAdd(&a[0], 1);
    while (wrong && atomicAdd(&a[0], 0) < 3) {
    }
}
FAULT(kSpin, waits_for_a_host_that_waits, 1, 1) {
    while (wrong && atomicAdd(&a[0], 0) == 0) {
    }
}
