// Kernels with known memory traffic, for tests of the counters.

#pragma once

namespace mini::patterns {

/// Computes out[i] = x[i * stride] with `count` threads, 32 per block.
void strided_copy(float* out, const float* x, int stride, int count);

/// Copies with one warp per block; each thread copies 4 floats in one access.
void vector_copy(float* out, const float* x, int count);

/// Transposes a 32 x 32 tile through shared memory, one warp per row. With `padded`, the
/// rows in shared memory have 33 elements.
void transpose_tile(float* out, const float* x, bool padded);

/// Every thread atomically adds 1 to *total, between two block barriers.
void count_threads(int* total, int blocks, int threads);

/// Launches a kernel that has MINI_TODO instead of its code.
void unwritten(float* out);

}  // namespace mini::patterns
