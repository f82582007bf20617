// Losses: one thread per sample, or per element.
//
//     nll            thread i    losses[i] = -x[i, target[i]]     one float of each row
//     nll_backward   thread k    dx[k] = -g[i] or 0               all of dx, written once

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr float kMinLog = -100.0f;
constexpr float kMinDivisor = 1e-12f;

// The host cannot check targets without waiting for the device. The loss of an invalid
// target is NaN.
__device__ bool is_class(int64_t target, int64_t classes) {
    return target >= 0 && target < classes;
}

// Returns the greater of `value` and `least`, or NaN if `value` is NaN.
__device__ float at_least(float value, float least) {
    return value < least ? least : value;
}

}  // namespace

void nll(float* losses, const float* x, const int64_t* target, int64_t rows, int64_t cols,
         cudaStream_t stream) {
    const auto loss = [=] __device__(int64_t i) {
        losses[i] = is_class(target[i], cols) ? -x[i * cols + target[i]] : NAN;
    };
    each(loss, rows, stream);
}

void nll_backward(float* dx, const float* g, const int64_t* target, int64_t rows,
                  int64_t cols, cudaStream_t stream) {
    const auto gradient = [=] __device__(int64_t k) {
        const int64_t i = k / cols;
        dx[k] = k - i * cols == target[i] ? -g[i] : 0.0f;
    };
    each(gradient, rows * cols, stream);
}

void binary_cross_entropy(float* losses, const float* p, const float* t, int64_t n,
                          cudaStream_t stream) {
    const auto loss = [] __device__(float p, float t) {
        return (t - 1.0f) * at_least(log1pf(-p), kMinLog) -
               t * at_least(logf(p), kMinLog);
    };
    map(loss, losses, n, stream, p, t);
}

void binary_cross_entropy_backward(float* dp, const float* g, const float* p,
                                   const float* t, int64_t n, cudaStream_t stream) {
    const auto gradient = [] __device__(float g, float p, float t) {
        return g * (p - t) / at_least((1.0f - p) * p, kMinDivisor);
    };
    map(gradient, dp, n, stream, g, p, t);
}

}  // namespace mini::kernels::cuda
