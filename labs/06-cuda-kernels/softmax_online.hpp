// Row-wise log-softmax that finds the maximum and the sum of exponentials in one pass: M.
// Milakov, N. Gimelshein, "Online normalizer calculation for softmax" (2018). It reads x
// twice, log_softmax of kernels.hpp three times.

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {

/// Computes log_softmax of kernels.hpp, with a warp per row for any number of columns.
/// The last digits may differ.
void log_softmax_online(float* y,        // (rows, cols)
                        const float* x,  // (rows, cols)
                        int64_t rows, int64_t cols, cudaStream_t stream);

}  // namespace mini::kernels::cuda
