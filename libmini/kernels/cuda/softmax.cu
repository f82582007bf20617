// Row-wise log-softmax, and cross-entropy with its gradient. A team (a warp, or a block for long rows) processes a row; its
// threads stride over the columns:
//
//     column   0  1  2 .. 31 | 32 33 34 .. 63 | 64 ..
//     lane     0  1  2 .. 31 |  0  1  2 .. 31 |  0 ..
//
// Adjacent lanes access adjacent floats, and a warp reduces by shuffles only.
// Traffic: x is read once from memory and once more from the cache, y is written once
// (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax").

#include <cstdint>
#include <limits>

#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

// y = x - greatest - log_total has exponentials that sum to 1.
struct Normaliser {
    float greatest, log_total;
    __device__ float operator()(float x) const { return x - greatest - log_total; }
};

template <int kTeam>
__device__ Normaliser normaliser_of(const float* x,  // (cols)
                                    int64_t cols, int lane) {
    // Sum exp(x - the greatest element so far), which does not overflow. A finite start
    // gives NaN for a row of -infinity only, but not for a first element of -infinity.
    float greatest = std::numeric_limits<float>::lowest(), total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) {
        if (x[j] > greatest) {
            total *= expf(greatest - x[j]);
            greatest = x[j];
        }
        total += expf(x[j] - greatest);
    }
    const float of_row = team_reduce<kTeam>(greatest, Max());
    total *= expf(greatest - of_row);
    return {of_row, logf(team_reduce<kTeam>(total, Sum()))};
}

template <int kTeam>
__global__ void log_softmax_kernel(float* y,        // (rows, cols)
                                   const float* x,  // (rows, cols)
                                   int64_t rows, int64_t cols) {
    const auto [row, lane] = row_of_team<kTeam>();
    if (row >= rows) return;  // the whole team returns
    x += row * cols;
    y += row * cols;
    const Normaliser log_softmax = normaliser_of<kTeam>(x, cols, lane);
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = log_softmax(x[j]);
}

template <int kTeam>
__global__ void cross_entropy_kernel(float* losses,          // (rows)
                                     float* dx,              // (rows, cols)
                                     const float* x,         // (rows, cols)
                                     const int64_t* target,  // (rows)
                                     float divisor, int64_t rows, int64_t cols) {
    const auto [row, lane] = row_of_team<kTeam>();
    if (row >= rows) return;  // the whole team returns
    x += row * cols;
    dx += row * cols;
    const Normaliser log_softmax = normaliser_of<kTeam>(x, cols, lane);
    const int64_t c = target[row];
    const bool is_class = c >= 0 && c < cols;  // the host cannot check it
    if (lane == 0) losses[row] = is_class ? -log_softmax(x[c]) / divisor : NAN;
    for (int64_t j = lane; j < cols; j += kTeam)
        dx[j] = (expf(log_softmax(x[j])) - (j == c ? 1.0f : 0.0f)) / divisor;
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

void cross_entropy(float* loss, float* dx, const float* x, const int64_t* target,
                   int64_t rows, int64_t cols, float divisor, cudaStream_t stream) {
    const Scratch<float> losses(rows, stream);
    launch_by_rows(cross_entropy_kernel<kWarpSize>, cross_entropy_kernel<kThreads>, rows,
                   cols, stream, losses.get(), dx, x, target, divisor);
    sum(loss, losses.get(), 1, rows, 1, stream);
}

}  // namespace mini::kernels::cuda
