// Row-wise log-softmax. A team (a warp, or a block for long rows) processes a row; its
// threads stride over the columns:
//
//     column   0  1  2 .. 31 | 32 33 34 .. 63 | 64 ..
//     lane     0  1  2 .. 31 |  0  1  2 .. 31 |  0 ..
//
// Adjacent lanes access adjacent floats, and a warp reduces by shuffles only.
// Traffic: x is read once from memory and twice more from the cache, y is written once.

#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

template <int kTeam>
__global__ void log_softmax_kernel(float* y,        // (rows, cols)
                                   const float* x,  // (rows, cols)
                                   int64_t rows, int64_t cols) {
    const auto [row, lane] = row_of_team<kTeam>();
    if (row >= rows) return;  // the whole team returns
    x += row * cols;
    y += row * cols;

    float greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kTeam) greatest = fmaxf(greatest, x[j]);
    greatest = team_reduce<kTeam>(greatest, Max());  // keeps expf from overflowing

    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(team_reduce<kTeam>(total, Sum()));

    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;
}

template <int kTeam>
__global__ void log_softmax_backward_kernel(float* dx,       // (rows, cols)
                                            const float* g,  // (rows, cols)
                                            const float* y,  // (rows, cols)
                                            int64_t rows, int64_t cols) {
    const auto [row, lane] = row_of_team<kTeam>();
    if (row >= rows) return;  // the whole team returns
    const int64_t start = row * cols;

    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += g[start + j];
    total = team_reduce<kTeam>(total, Sum());

    for (int64_t j = lane; j < cols; j += kTeam)
        dx[start + j] = g[start + j] - expf(y[start + j]) * total;
}

}  // namespace

void log_softmax(float* y, const float* x, int64_t rows, int64_t cols,
                 cudaStream_t stream) {
    if (cols == 0) return;
    launch_by_rows(log_softmax_kernel<kWarpSize>, log_softmax_kernel<kThreads>, rows,
                   cols, stream, y, x);
}

void log_softmax_backward(float* dx, const float* g, const float* y, int64_t rows,
                          int64_t cols, cudaStream_t stream) {
    if (cols == 0) return;
    launch_by_rows(log_softmax_backward_kernel<kWarpSize>,
                   log_softmax_backward_kernel<kThreads>, rows, cols, stream, dx, g, y);
}

}  // namespace mini::kernels::cuda
