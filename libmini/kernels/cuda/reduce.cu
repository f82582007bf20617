// Sums, and the index of the greatest element.
//
// Sums along rows (inner = 1). A row is split into pieces. A team sums a piece, each
// thread four adjacent elements at a time, and the pieces' sums are summed in the same
// way:
//
//     x      0 .. 3 | 4 .. 7 | ... | 1020 .. 1023 | 1024 .. 1027 | ...
//     thread 0      | 1      | ... | 255          | 0            | ...
//
// Sums down columns. A block takes a strip of `cols` columns. Its threads form one or
// more rows across the strip, so that adjacent threads read adjacent floats, and loop
// over a piece of kRowsPerPiece rows; then the rows of threads are summed in shared
// memory:
//
//     inner = 3     row 0   t0 t1 t2      row 85   t0 t1 t2
//                   row 1   t3 t4 t5      row 86   t3 t4 t5   ...
//
// An element is rounded tens of times, not thousands of times. The order of summation
// depends only on the extents. Traffic: x is read once; the pieces' sums add below 1 %.

#include "libmini/kernels/cuda/kernels.hpp"

#include <algorithm>

#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::ceil_div;
using mini::cuda::launch;

constexpr int64_t kElementsPerPiece = 8192;
constexpr int64_t kRowsPerPiece = 256;
constexpr int64_t kStripColumns = 32;  // columns per block, if inner > kMaxNarrowColumns
constexpr int64_t kMaxNarrowColumns = 64;  // if inner <= this, a block takes all columns

// Returns four adjacent elements from index i on, with zeros past the end. A thread gets
// the same elements for any alignment of x.
template <bool kWide>
__device__ Pack<float, 4> four_of(const float* x, int64_t i, int64_t end) {
    if (kWide && i + 4 <= end) return load<4>(x + i);
    Pack<float, 4> values;
    for (int k = 0; k < 4; ++k) values.at[k] = i + k < end ? x[i + k] : 0.0f;
    return values;
}

template <int kTeam, bool kWide>
__global__ void row_sum_kernel(float* out,      // (rows, pieces)
                               const float* x,  // (rows, cols)
                               int64_t rows, int64_t cols, int64_t pieces) {
    const auto [piece, lane] = row_of_team<kTeam>();
    if (piece >= rows * pieces) return;  // the whole team returns

    const float* row = x + piece / pieces * cols;
    const int64_t begin = piece % pieces * kElementsPerPiece;
    const int64_t end = min(begin + kElementsPerPiece, cols);
    float lanes[4] = {};
    for (int64_t i = begin + 4 * lane; i < end; i += 4 * kTeam) {
        const auto values = four_of<kWide>(row, i, end);
        for (int k = 0; k < 4; ++k) lanes[k] += values.at[k];
    }
    const float total =
        team_reduce<kTeam>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]), Sum());
    if (lane == 0) out[piece] = total;
}

template <int kTeam>
void sum_pieces(float* out, const float* x, int64_t rows, int64_t cols, int64_t pieces,
                cudaStream_t stream) {
    const bool wide = aligned<4>(x) && (rows == 1 || cols % 4 == 0);
    launch(wide ? row_sum_kernel<kTeam, true> : row_sum_kernel<kTeam, false>,
           teams_for<kTeam>(rows * pieces), stream, out, x, rows, cols, pieces);
}

void sum_rows(float* out, const float* x, int64_t rows, int64_t cols,
              cudaStream_t stream) {
    if (cols <= kMaxColumnsPerWarp)
        return sum_pieces<kWarpSize>(out, x, rows, cols, 1, stream);
    const int64_t pieces = ceil_div(cols, kElementsPerPiece);
    if (pieces == 1) return sum_pieces<kThreads>(out, x, rows, cols, 1, stream);
    const Scratch<float> partial(rows * pieces, stream);
    sum_pieces<kThreads>(partial.get(), x, rows, cols, pieces, stream);
    sum_rows(out, partial.get(), rows, pieces, stream);
}

// Launch with kThreads threads, and one block for each strip of each piece.
__global__ void column_sum_kernel(float* out,      // (outer, pieces, inner)
                                  const float* x,  // (outer, reduced, inner)
                                  int64_t reduced, int64_t inner, int64_t pieces,
                                  int64_t cols) {
    __shared__ float sums[kThreads];
    const int64_t strips = ceil_div(inner, cols);
    const int64_t piece = blockIdx.x / strips;  // counted over all outer indices
    const int64_t index = threadIdx.x % cols;
    const int64_t j = blockIdx.x % strips * cols + index;
    const int64_t rows_at_once = kThreads / cols;
    const int64_t first_row = threadIdx.x / cols;

    // Loop over the rows of the piece.
    const int64_t begin = piece % pieces * kRowsPerPiece;
    const int64_t end = min(begin + kRowsPerPiece, reduced);
    const float* from = x + piece / pieces * reduced * inner + j;
    float total = 0.0f;
    if (j < inner && first_row < rows_at_once)
        for (int64_t k = begin + first_row; k < end; k += rows_at_once)
            total += from[k * inner];

    // Sum the rows of threads.
    sums[threadIdx.x] = total;
    __syncthreads();
    if (first_row != 0 || j >= inner) return;
    for (int64_t row = 1; row < rows_at_once; ++row) total += sums[row * cols + index];
    out[piece * inner + j] = total;
}

void sum_columns(float* out, const float* x, int64_t outer, int64_t reduced,
                 int64_t inner, cudaStream_t stream) {
    const int64_t cols = inner <= kMaxNarrowColumns ? inner : kStripColumns;
    const int64_t pieces = std::max<int64_t>(1, ceil_div(reduced, kRowsPerPiece));
    const Scratch<float> partial(pieces == 1 ? 0 : outer * pieces * inner, stream);
    float* to = pieces == 1 ? out : partial.get();
    const int64_t grid = outer * pieces * ceil_div(inner, cols);
    launch(column_sum_kernel, {.grid = blocks(grid, 1), .block = kThreads}, stream, to, x,
           reduced, inner, pieces, cols);
    if (pieces > 1) sum_columns(out, to, outer, pieces, inner, stream);
}

// ---- the index of the greatest element

struct Candidate {
    float value;
    int64_t index;  // negative: no candidate
};

// Returns the better of two candidates: NaN before numbers, then the greater value, then
// the lower index.
__device__ Candidate better(Candidate a, Candidate b) {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool tie = (a_nan && b_nan) || a.value == b.value;
    if (tie) return a.index < b.index ? a : b;
    return a_nan || (!b_nan && a.value > b.value) ? a : b;
}

// Launch with one warp per row.
__global__ void argmax_kernel(int64_t* out,    // (rows)
                              const float* x,  // (rows, cols)
                              int64_t rows, int64_t cols) {
    const auto [row, lane] = row_of_team<kWarpSize>();
    if (row >= rows) return;  // the whole warp returns

    // Compare every kWarpSize-th element, then the lanes.
    Candidate best{0.0f, -1};
    for (int64_t j = lane; j < cols; j += kWarpSize)
        best = better(best, {x[row * cols + j], j});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        best = better(best, {__shfl_xor_sync(kAllLanes, best.value, step),
                             __shfl_xor_sync(kAllLanes, best.index, step)});
    if (lane == 0) out[row] = max(best.index, int64_t{0});
}

}  // namespace

void sum(float* out, const float* x, int64_t outer, int64_t reduced, int64_t inner,
         cudaStream_t stream) {
    if (outer == 0 || inner == 0) return;
    if (inner == 1)
        sum_rows(out, x, outer, reduced, stream);
    else
        sum_columns(out, x, outer, reduced, inner, stream);
}

void argmax(int64_t* out, const float* x, int64_t rows, int64_t cols,
            cudaStream_t stream) {
    launch(argmax_kernel, teams_for<kWarpSize>(rows), stream, out, x, rows, cols);
}

}  // namespace mini::kernels::cuda
