// ReLU by three kernels that differ in one thing: which thread computes which element. A
// first kernel, and the smallest that shows coalescing. (The library's own ReLU is in
// elementwise.cu: 16 bytes per access.)
//
//     rung          thread t computes                        a warp reads at a time
//     runs          8 adjacent elements, from 8 t on         32 floats, 32 bytes apart
//     each          element t                                32 adjacent floats
//     grid_stride   elements t, t + T, t + 2 T, ...          32 adjacent floats
//                   where T is the number of threads
//
// All rungs: out (n), x (n); out[i] = 0 if x[i] < 0, else x[i], so NaN stays NaN. n may
// be 0.

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {

/// A thread computes 8 adjacent elements.
void relu_runs(float* out, const float* x, int64_t n, cudaStream_t stream);

/// A thread computes one element. Launches as many blocks of 256 threads as are needed,
/// and no more; none if n is 0.
void relu_each(float* out, const float* x, int64_t n, cudaStream_t stream);

/// Launches `grid` blocks of 256 threads for any n; a thread computes every T-th element,
/// T = 256 grid.
void relu_grid_stride(float* out, const float* x, int64_t n, unsigned grid,
                      cudaStream_t stream);

}  // namespace mini::kernels::cuda
