// The kernels of the losses: one number a sample or element, and its gradient.

#pragma once

#include <cstdint>

namespace mini::kernels::cpu {

/// losses[i] = -x[i, target[i]]. REQUIRES: each target in [0, cols).
void nll(float* losses,          // (rows)
         const float* x,         // (rows, cols), logarithms of probabilities
         const int64_t* target,  // (rows)
         int64_t rows, int64_t cols);

/// dx[i, target[i]] = -g[i], elsewhere 0.
void nll_backward(float* dx,              // (rows, cols)
                  const float* g,         // (rows)
                  const int64_t* target,  // (rows)
                  int64_t rows, int64_t cols);

/// losses[i] = -(t log p + (1 - t) log(1 - p)), logarithms at least -100 as in PyTorch,
/// so that a p of 0 or 1 costs 100 rather than infinity.
void binary_cross_entropy(float* losses,   // (n)
                          const float* p,  // (n), in [0, 1]
                          const float* t,  // (n)
                          int64_t n);

/// dp[i] = g (p - t) / (p (1 - p)), the divisor at least 1e-12 as in PyTorch.
void binary_cross_entropy_backward(float* dp,       // (n)
                                   const float* g,  // (n)
                                   const float* p,  // (n)
                                   const float* t,  // (n)
                                   int64_t n);

}  // namespace mini::kernels::cpu
