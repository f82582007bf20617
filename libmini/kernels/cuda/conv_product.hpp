// The kernel of the three convolutions: a product whose factors are gathered element by
// element (conv_problems.hpp). A block of 256 threads computes a tile of out; a thread
// computes 4 x 4 elements:
//
//     a (depth, kTileM)   . m m m m .      for each step along the depth, a thread reads
//     b (depth, kTileN)   . n n n n .      4 + 4 floats and adds their 16 products
//
// Networks with few channels have few rows M. A tile of 16 rows is then wide, 16 x 256,
// or, if there are few columns too, the threads form slices: four slices of 64 threads
// compute the same 16 x 64 elements over different parts of the depth, and at the end the
// first slice adds the sums of the others. A large depth is also split among blocks.
//
//     tile       16 x 256   32 x 128   64 x 64   32 x 64   16 x 64
//     slices         1          1         1         2         4
//     depth         16         16        16        32        64      of one step
//
// Three phases, apart: Gather loads the elements of the next step into registers while
// add_products() uses those of this step in shared memory; write_sums() ends the block.
// There are no atomics, so repeated runs are bitwise identical.
//
// Included only by conv.cu.

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/conv_problems.hpp"
#include "libmini/kernels/cuda/each.hpp"

namespace mini::kernels::cuda {

using Four = Pack<float, 4>;

template <int kM, int kN>
struct Tile {
    static constexpr int kRows = kM, kCols = kN;
    static constexpr int kSliceThreads = kM / 4 * (kN / 4);
    static constexpr int kSlices = kThreads / kSliceThreads;
    static constexpr int kSliceDepth = 16;
    static constexpr int kDepth = kSliceDepth * kSlices;
    // Rows of the tiles in shared memory, in fours: odd, so that 8 threads that write
    // fours at adjacent depths write to different banks.
    static constexpr int kPitchA = kM / 4 + 1, kPitchB = kN / 4 + 1;
    static constexpr int kPlaces = kDepth > kN ? kDepth : kN;
};

// This thread's elements of the tiles of one step, on their way from global memory to
// shared memory. Adjacent threads load adjacent elements: of b along the columns if the
// origins are along the columns, everything else along the depth.
template <typename Problem, typename Tile>
class Gather {
    static constexpr int kDepth = Tile::kDepth;
    static constexpr int kGroups = kThreads / kDepth;  // of threads along the depth
    static constexpr int kRounds = Tile::kCols / 4 / kGroups;
    static constexpr int kEachB = Tile::kCols * kDepth / kThreads;
    static constexpr int kRowsAtOnce =
        kThreads / Tile::kCols > 0 ? kThreads / Tile::kCols : 1;

  public:
    __device__ Gather(const Problem& problem, uint32_t first_m, uint32_t first_n)
        : problem_(problem), first_m_(first_m) {
        const uint32_t n = first_n + threadIdx.x % Tile::kCols;
        if constexpr (!Problem::kOriginsAlongDepth)
            origin_ = origin_or_outside(n, problem.N);
    }

    /// Loads the elements of the step that begins at depth k; zeros from `end` on.
    /// `places`: those along the depth of this step, or of the tile's columns.
    __device__ void load(const Place* places, uint32_t k, uint32_t end) {
        const uint32_t depth = threadIdx.x % kDepth, group = threadIdx.x / kDepth;
        const bool inside = k + depth < end;
        if constexpr (Problem::kOriginsAlongDepth) {
            const Origin origin = origin_or_outside(k + depth, end);
            load_a(origin, inside);
#pragma unroll
            for (int i = 0; i < kEachB; ++i)
                b_[i / 4].at[i % 4] =
                    problem_.b(origin, places[(group + i / 4 * kGroups) * 4 + i % 4]);
        } else {
            load_a(places[depth], inside);
#pragma unroll
            for (int i = 0; i < kEachB; ++i)
                b_[i / 4].at[i % 4] = problem_.b(
                    origin_, places[threadIdx.x / Tile::kCols + i * kRowsAtOnce]);
        }
    }

    __device__ void store(Four (*a)[Tile::kPitchA], Four (*b)[Tile::kPitchB]) const {
        const int depth = threadIdx.x % kDepth, group = threadIdx.x / kDepth;
        if (group < Tile::kRows / 4) cuda::store(a[depth][group].at, a_);
        if constexpr (Problem::kOriginsAlongDepth) {
#pragma unroll
            for (int round = 0; round < kRounds; ++round)
                cuda::store(b[depth][group + round * kGroups].at, b_[round]);
        } else {
            const int n = threadIdx.x % Tile::kCols, row = threadIdx.x / Tile::kCols;
#pragma unroll
            for (int i = 0; i < kEachB; ++i)
                b[row + i * kRowsAtOnce][n / 4].at[n % 4] = b_[i / 4].at[i % 4];
        }
    }

  private:
    __device__ Origin origin_or_outside(uint32_t index, uint32_t end) const {
        return index < end ? problem_.origin(index) : Origin{0, 0, kOutside, kOutside};
    }

    // Loads four rows of a at one depth.
    template <typename Depth>
    __device__ void load_a(const Depth& depth, bool inside) {
        const uint32_t row = threadIdx.x / kDepth * 4;
        if (row >= Tile::kRows) return;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const uint32_t m = first_m_ + row + i;
            a_.at[i] = inside && m < problem_.M ? problem_.a(m, depth) : 0.0f;
        }
    }

    const Problem& problem_;
    uint32_t first_m_;
    Origin origin_;  // of this thread's column, if origins are along the columns
    Four a_;
    Four b_[kEachB / 4];
};

// Fills the table of places from index `first` on: along the depth of one step, or the
// columns of the tile.
template <typename Problem>
__device__ void find_places(Place* places, const Problem& problem, uint32_t first,
                            uint32_t count, uint32_t end) {
    for (uint32_t i = threadIdx.x; i < count; i += kThreads)
        places[i] =
            first + i < end ? problem.place(first + i) : Place{0, kOutside, kOutside, 0};
}

// Adds the products of this thread's 4 x 4 elements over its slice of the step.
template <typename Tile>
__device__ void add_products(float (&sums)[4][4], const Four (*a)[Tile::kPitchA],
                             const Four (*b)[Tile::kPitchB], int row, int col) {
#pragma unroll
    for (int depth = 0; depth < Tile::kSliceDepth; ++depth) {
        const Four left = load<4>(a[depth][row].at), right = load<4>(b[depth][col].at);
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) sums[i][j] += left.at[i] * right.at[j];
    }
}

// Adds the sums of the other slices to those of the first slice, in order. `memory` is
// that of the tiles. Returns whether this thread is in the first slice.
template <typename Tile>
__device__ bool add_slices(float (&sums)[4][4], Four* memory) {
    const int slice = threadIdx.x / Tile::kSliceThreads;
    const int thread = threadIdx.x % Tile::kSliceThreads;
    if constexpr (Tile::kSlices > 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (slice > 0) {
                Four four;
                for (int j = 0; j < 4; ++j) four.at[j] = sums[i][j];
                store(memory[((slice - 1) * 4 + i) * Tile::kSliceThreads + thread].at,
                      four);
            }
        __syncthreads();
        if (slice > 0) return false;
        for (int other = 0; other < Tile::kSlices - 1; ++other)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const Four four =
                    load<4>(memory[(other * 4 + i) * Tile::kSliceThreads + thread].at);
                for (int j = 0; j < 4; ++j) sums[i][j] += four.at[j];
            }
    }
    return slice == 0;
}

// Writes 4 x 4 elements of out from row m and column n on: a row in one store if
// problem.vector, with one division for all of them.
template <typename Problem>
__device__ void write_sums(const Problem& problem, const float (&sums)[4][4], uint32_t m,
                           uint32_t n, unsigned split) {
    if (problem.vector) {
        if (n >= problem.N) return;
        const Output out = problem.output(n, split);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (m + i >= problem.M) return;
            Four four;
            for (int j = 0; j < 4; ++j) four.at[j] = sums[i][j] + problem.added(m + i);
            store(out.first + (m + i) * out.pitch, four);
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if (n + j >= problem.N) return;
        const Output out = problem.output(n + j, split);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (m + i < problem.M)
                out.first[(m + i) * out.pitch] = sums[i][j] + problem.added(m + i);
    }
}

// Launch with blocks (tiles of N, tiles of M, parts of the depth).
template <typename Tile, typename Problem>
__global__ void __launch_bounds__(kThreads)
    product_kernel(Problem problem, uint32_t depth_per_part) {
    constexpr int kDepth = Tile::kDepth;
    constexpr bool kOriginsAlongDepth = Problem::kOriginsAlongDepth;
    __shared__ Place places[Tile::kPlaces];
    __shared__ Four memory[kDepth * (Tile::kPitchA + Tile::kPitchB)];
    auto* const a = reinterpret_cast<Four(*)[Tile::kPitchA]>(memory);
    auto* const b =
        reinterpret_cast<Four(*)[Tile::kPitchB]>(memory + kDepth * Tile::kPitchA);
    const uint32_t first_m = blockIdx.y * Tile::kRows, first_n = blockIdx.x * Tile::kCols;
    const uint32_t begin = blockIdx.z * depth_per_part;
    const uint32_t end = min(problem.K, begin + depth_per_part);

    // The first step's elements, by way of registers. The places of dw's columns do not
    // change from step to step.
    if constexpr (kOriginsAlongDepth)
        find_places(places, problem, first_n, Tile::kCols, problem.N);
    else
        find_places(places, problem, begin, kDepth, end);
    __syncthreads();
    Gather<Problem, Tile> gather(problem, first_m, first_n);
    gather.load(places, begin, end);
    __syncthreads();  // no thread overwrites a place that another still reads

    // This thread's 4 x 4 elements, and its slice of each step.
    const int slice = threadIdx.x / Tile::kSliceThreads;
    const int thread = threadIdx.x % Tile::kSliceThreads;
    const int row = thread / (Tile::kCols / 4), col = thread % (Tile::kCols / 4);
    const int first_depth = slice * Tile::kSliceDepth;
    float sums[4][4] = {};
    for (uint32_t k = begin; k < end; k += kDepth) {
        gather.store(a, b);
        if constexpr (!kOriginsAlongDepth)
            find_places(places, problem, k + kDepth, kDepth, end);
        __syncthreads();
        gather.load(places, k + kDepth, end);
        add_products<Tile>(sums, a + first_depth, b + first_depth, row, col);
        __syncthreads();  // no thread overwrites a tile that another still reads
    }

    if (add_slices<Tile>(sums, memory))
        write_sums(problem, sums, first_m + 4 * row, first_n + 4 * col, blockIdx.z);
}

}  // namespace mini::kernels::cuda
