#include "libmini/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>

#include "libmini/core/error.hpp"

// [lab04 file]
namespace mini::kernels::cpu {

void nll(float* losses, const float* x, const int64_t* target, int64_t rows,
         int64_t cols) {
    // [lab04.3] Take the negative log-probability of each row's target.
    for (int64_t i = 0; i < rows; ++i) losses[i] = -x[i * cols + target[i]];
    // [lab04.3]
}

void nll_backward(float* dx, const float* g, const int64_t* target, int64_t rows,
                  int64_t cols) {
    // [lab04.3] Give each row's gradient, negated, to its target; 0 to the others.
    std::fill_n(dx, rows * cols, 0.0f);
    for (int64_t i = 0; i < rows; ++i) dx[i * cols + target[i]] = -g[i];
    // [lab04.3]
}

void binary_cross_entropy(float* losses, const float* p, const float* t, int64_t n) {
    constexpr float kMinLog = -100.0f;
    // [lab04.3] Compute each loss, with logarithms of at least kMinLog.
    for (int64_t i = 0; i < n; ++i)
        losses[i] = (t[i] - 1.0f) * std::max(std::log1p(-p[i]), kMinLog) -
                    t[i] * std::max(std::log(p[i]), kMinLog);
    // [lab04.3]
}

void binary_cross_entropy_backward(float* dp, const float* g, const float* p,
                                   const float* t, int64_t n) {
    constexpr float kMinDivisor = 1e-12f;
    // [lab04.3] Compute each gradient, with a divisor of at least kMinDivisor.
    for (int64_t i = 0; i < n; ++i)
        dp[i] = g[i] * (p[i] - t[i]) / std::max((1.0f - p[i]) * p[i], kMinDivisor);
    // [lab04.3]
}

}  // namespace mini::kernels::cpu
// [lab04 file]
