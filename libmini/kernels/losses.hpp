// Loss kernels: one loss per sample or per element, and its gradient.

#pragma once

#include <cstdint>

namespace mini::kernels::cpu {

/// losses[i] = -x[i, target[i]]. REQUIRES: each target in [0, cols).
void nll(float* losses,          // (rows)
         const float* x,         // (rows, cols), logarithms of probabilities
         const int64_t* target,  // (rows)
         int64_t rows, int64_t cols);

/// dx[i, target[i]] = -g[i], and 0 elsewhere.
void nll_backward(float* dx,              // (rows, cols)
                  const float* g,         // (rows)
                  const int64_t* target,  // (rows)
                  int64_t rows, int64_t cols);

/// losses[i] = -(t log p + (1 - t) log(1 - p)). Logarithms are clamped to at least -100,
/// as in PyTorch: a p of 0 or 1 costs at most 100 instead of infinity.
void binary_cross_entropy(float* losses,   // (n)
                          const float* p,  // (n), in [0, 1]
                          const float* t,  // (n)
                          int64_t n);

/// dp[i] = g (p - t) / (p (1 - p)). The divisor is clamped to at least 1e-12, as in
/// PyTorch.
void binary_cross_entropy_backward(float* dp,       // (n)
                                   const float* g,  // (n)
                                   const float* p,  // (n)
                                   const float* t,  // (n)
                                   int64_t n);

}  // namespace mini::kernels::cpu
