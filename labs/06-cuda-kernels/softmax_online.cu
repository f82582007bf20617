// A running maximum and sum. If a greater element comes, the old sum is scaled to it:
//
//     x             1             3                         2
//     greatest      1             3                         3
//     total         1             e^(1-3) + 1               e^(1-3) + 1 + e^(2-3)
//
// Two parts of a row are merged in the same way, so the lanes of a warp keep a part each,
// and a tree of shuffles merges them.

#include "labs/06-cuda-kernels/softmax_online.hpp"

#include <cfloat>

#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

// The elements of a part of a row: their maximum, and the sum of exp(x - greatest).
struct Running {
    float greatest, total;
};

// Returns the maximum and the sum of two parts together.
__device__ Running merge(Running a, Running b) {
    // [lab06.6] Scale both sums to the greater maximum.
    const float greatest = fmaxf(a.greatest, b.greatest);
    const float of_a = a.total * expf(a.greatest - greatest);
    const float of_b = b.total * expf(b.greatest - greatest);
    return {greatest, of_a + of_b};
    // [lab06.6]
}

__global__ void log_softmax_online_kernel(float* y,        // (rows, cols)
                                          const float* x,  // (rows, cols)
                                          int64_t rows, int64_t cols) {
    const auto [row, lane] = row_of_team<kWarpSize>();
    if (row >= rows) return;  // the whole warp returns
    x += row * cols;
    y += row * cols;
    // A part without elements. Its maximum is finite, because -inf - -inf is NaN.
    Running all{-FLT_MAX, 0.0f};
    // [lab06.6] Merge a lane's elements, then the lanes, and write the row.
    for (int64_t j = lane; j < cols; j += kWarpSize) all = merge(all, {x[j], 1.0f});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        all = merge(all, {__shfl_xor_sync(kAllLanes, all.greatest, step),
                          __shfl_xor_sync(kAllLanes, all.total, step)});
    const float log_total = logf(all.total);
    for (int64_t j = lane; j < cols; j += kWarpSize)
        y[j] = x[j] - all.greatest - log_total;
    // [lab06.6]
}

}  // namespace

void log_softmax_online(float* y, const float* x, int64_t rows, int64_t cols,
                        cudaStream_t stream) {
    if (cols == 0) return;
    launch(log_softmax_online_kernel, teams_for<kWarpSize>(rows), stream, y, x, rows,
           cols);
}

}  // namespace mini::kernels::cuda
