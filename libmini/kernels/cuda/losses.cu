// Losses: one thread per sample, or per four elements.
//
//     nll            thread i    losses[i] = -x[i, target[i]]     one float of each row
//     nll_backward   thread k    dx[k] = -g[i] or 0               all of dx, written once

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr float kMinLog = -100.0f;
constexpr float kMinDivisor = 1e-12f;

// The host cannot check targets without waiting for the device. The loss of an invalid
// target is NaN.
__device__ bool is_class(int64_t target, int64_t classes) {
    return target >= 0 && target < classes;
}

__global__ void nll_kernel(float* losses,          // (rows)
                           const float* x,         // (rows, cols)
                           const int64_t* target,  // (rows)
                           int64_t rows, int64_t cols) {
    for (int64_t i = thread_number(); i < rows; i += thread_count())
        losses[i] = is_class(target[i], cols) ? -x[i * cols + target[i]] : NAN;
}

__global__ void nll_backward_kernel(float* dx,              // (rows, cols)
                                    const float* g,         // (rows)
                                    const int64_t* target,  // (rows)
                                    int64_t rows, int64_t cols) {
    for (int64_t k = thread_number(); k < rows * cols; k += thread_count()) {
        const int64_t i = k / cols;
        dx[k] = k - i * cols == target[i] ? -g[i] : 0.0f;
    }
}

// Returns the greater of `value` and `least`, or NaN if `value` is NaN.
__device__ float at_least(float value, float least) {
    return value < least ? least : value;
}

struct BinaryCrossEntropy {
    static constexpr int kWidth = 4;
    float* losses;
    const float *p, *t;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        const auto ps = load<kWidth>(p + i), ts = load<kWidth>(t + i);
        Pack<float, kWidth> result;
        for (int k = 0; k < kWidth; ++k)
            result.at[k] = (ts.at[k] - 1.0f) * at_least(log1pf(-ps.at[k]), kMinLog) -
                           ts.at[k] * at_least(logf(ps.at[k]), kMinLog);
        store(losses + i, result);
    }
};

struct BinaryCrossEntropyBackward {
    static constexpr int kWidth = 4;
    float* dp;
    const float *g, *p, *t;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        const auto gs = load<kWidth>(g + i), ps = load<kWidth>(p + i);
        const auto ts = load<kWidth>(t + i);
        Pack<float, kWidth> result;
        for (int k = 0; k < kWidth; ++k)
            result.at[k] = gs.at[k] * (ps.at[k] - ts.at[k]) /
                           at_least((1.0f - ps.at[k]) * ps.at[k], kMinDivisor);
        store(dp + i, result);
    }
};

}  // namespace

void nll(float* losses, const float* x, const int64_t* target, int64_t rows, int64_t cols,
         cudaStream_t stream) {
    launch(nll_kernel, grid_for(rows), stream, losses, x, target, rows, cols);
}

void nll_backward(float* dx, const float* g, const int64_t* target, int64_t rows,
                  int64_t cols, cudaStream_t stream) {
    launch(nll_backward_kernel, grid_for(rows * cols), stream, dx, g, target, rows, cols);
}

void binary_cross_entropy(float* losses, const float* p, const float* t, int64_t n,
                          cudaStream_t stream) {
    each(BinaryCrossEntropy{losses, p, t}, n, aligned<4>(losses, p, t), stream);
}

void binary_cross_entropy_backward(float* dp, const float* g, const float* p,
                                   const float* t, int64_t n, cudaStream_t stream) {
    each(BinaryCrossEntropyBackward{dp, g, p, t}, n, aligned<4>(dp, g, p, t), stream);
}

}  // namespace mini::kernels::cuda
