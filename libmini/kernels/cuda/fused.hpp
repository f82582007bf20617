// Kernels that exist only for a GPU: each does the work of several kernels, because a launch
// takes a GPU longer than a small kernel runs. The contracts are those of kernels.hpp.

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {

// softmax.cu

/// loss[0] = the sum of the cross-entropies of all rows, divided by `divisor`; NaN if a
/// target is not a class. dx = dloss/dx.
void cross_entropy(float* loss,            // (1)
                   float* dx,              // (rows, cols)
                   const float* x,         // (rows, cols), class scores
                   const int64_t* target,  // (rows)
                   int64_t rows, int64_t cols, float divisor, cudaStream_t stream);

}  // namespace mini::kernels::cuda
