// Reductions by a team: a warp, or a whole block of kThreads.
//
//     lane    0   1   2   3       a lane exchanges values with the lane whose number
//             a   b   c   d       differs in one bit; after log2(32) = 5 exchanges each
//             ab  ab  cd  cd      lane has the result. A block does this in each warp;
//             abcd ...            then each thread combines the results of the warps
//
// The order is the same in every run, and the result is bitwise identical in all threads
// of the team.
//
// Included only by .cu files.

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

/// Combines the values of a team of kTeam threads by `op`, and returns the result to
/// every thread of the team. With kGroups, a power of 2, thread i gets the result of the
/// threads whose number is i modulo kGroups. REQUIRES: kTeam is the block's size along x;
/// all threads of the team call team_reduce.
template <int kTeam, int kGroups = 1, typename T, typename Op>
__device__ T team_reduce(T value, Op op) {
    for (int step = kWarpSize / 2; step >= kGroups; step /= 2)
        value = op(value, __shfl_xor_sync(kAllLanes, value, step));
    if constexpr (kTeam > kWarpSize) {
        __shared__ T of_warp[kTeam / kWarpSize][kGroups];
        const unsigned lane = threadIdx.x % kWarpSize, group = lane % kGroups;
        __syncthreads();  // the values of the previous reduction are no longer read
        if (lane < kGroups) of_warp[threadIdx.x / kWarpSize][lane] = value;
        __syncthreads();
        value = of_warp[0][group];
        for (int warp = 1; warp < kTeam / kWarpSize; ++warp)
            value = op(value, of_warp[warp][group]);
    }
    return value;
}

// A warp reduces a row of up to kMaxColumnsPerWarp elements, with kWarpsPerBlock warps
// per block; a whole block reduces a longer row.
constexpr int64_t kMaxColumnsPerWarp = 1024;
constexpr int kWarpsPerBlock = 4;

/// The row of this thread's team, and the thread's lane.
struct RowOfTeam {
    int64_t row;
    int lane;  // in the team
};

/// Returns the row of this thread's team; a grid of teams_for() has one team per row.
template <int kTeam>
__device__ RowOfTeam row_of_team() {
    if constexpr (kTeam == kWarpSize)
        return {static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.y,
                static_cast<int>(threadIdx.x)};
    else
        return {static_cast<int64_t>(blockIdx.x), static_cast<int>(threadIdx.x)};
}

/// Returns a grid with one team of kTeam threads per row.
template <int kTeam>
mini::cuda::Extents teams_for(int64_t rows) {
    if constexpr (kTeam == kWarpSize)
        return {.grid = mini::cuda::blocks(rows, kWarpsPerBlock),
                .block = dim3(kWarpSize, kWarpsPerBlock)};
    else
        return {.grid = mini::cuda::blocks(rows, 1), .block = kTeam};
}

/// Launches a kernel with a team per row, a warp for short rows and a block for long ones:
/// by_warp or by_block, with the arguments, `rows` and `cols`.
template <typename Kernel, typename... Arguments>
void launch_by_rows(Kernel by_warp, Kernel by_block, int64_t rows, int64_t cols,
                    cudaStream_t stream, Arguments... arguments) {
    if (cols <= kMaxColumnsPerWarp)
        mini::cuda::launch(by_warp, teams_for<kWarpSize>(rows), stream, arguments...,
                           rows, cols);
    else
        mini::cuda::launch(by_block, teams_for<kThreads>(rows), stream, arguments...,
                           rows, cols);
}

}  // namespace mini::kernels::cuda
