// Reductions by a team: a warp, or a whole block of kThreads.
//
//     lane    0   1   2   3        after log2(32) = 5 exchanges with the lane whose number
//             a   b   c   d        differs in one bit, every lane holds the result;
//             ab  ab  cd  cd       a block does so once in its warps, and once more with
//             abcd ...             one number of each
//
// The order is the same in every run, and every thread of the team gets the same bits.
//
// Included by .cu files alone.

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/each.hpp"

namespace mini::kernels::cuda {

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

struct Sum {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename T, typename Op>
__device__ T warp_reduce(T value, Op op) {
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value = op(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}

/// The op of the values of a team of kTeam threads, for each of them. REQUIRES: kTeam is
/// kWarpSize or kThreads, the block's size along x; all of the team come here.
template <int kTeam, typename T, typename Op>
__device__ T team_reduce(T value, Op op) {
    value = warp_reduce(value, op);
    if constexpr (kTeam > kWarpSize) {
        __shared__ T of_warp[kTeam / kWarpSize];
        __syncthreads();  // the numbers of the reduction before this one are no longer read
        if (threadIdx.x % kWarpSize == 0) of_warp[threadIdx.x / kWarpSize] = value;
        __syncthreads();
        value = of_warp[0];
        for (int warp = 1; warp < kTeam / kWarpSize; ++warp)
            value = op(value, of_warp[warp]);
    }
    return value;
}

// Rows of up to so many elements are a warp's, several warps a block; longer ones a block's.
constexpr int64_t kMostColumnsOfWarp = 1024;
constexpr int kWarpsPerBlock = 4;

/// Where a team stands among the rows.
struct RowOfTeam {
    int64_t row;
    int lane;  // of the team
};

template <int kTeam>
__device__ RowOfTeam row_of_team() {
    if constexpr (kTeam == kWarpSize)
        return {static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.y,
                static_cast<int>(threadIdx.x)};
    else
        return {static_cast<int64_t>(blockIdx.x), static_cast<int>(threadIdx.x)};
}

/// One team of kTeam threads per row.
template <int kTeam>
mini::cuda::Extents teams_for(int64_t rows) {
    if constexpr (kTeam == kWarpSize)
        return {.grid = mini::cuda::blocks(rows, kWarpsPerBlock),
                .block = dim3(kWarpSize, kWarpsPerBlock)};
    else
        return {.grid = mini::cuda::blocks(rows, 1), .block = kTeam};
}

}  // namespace mini::kernels::cuda
