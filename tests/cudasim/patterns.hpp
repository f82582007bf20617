// Kernels with known traffic, for the counters.

#pragma once

namespace mini::patterns {

/// out[i] = x[i * stride], 32 threads per block; `count` threads.
void strided_copy(float* out, const float* x, int stride, int count);

/// One warp per block copies 4 floats per thread at once.
void vector_copy(float* out, const float* x, int count);

/// Transposes a 32 x 32 tile, one warp a row, through shared memory; with `padded`, rows of
/// the tile are 33 long.
void transpose_tile(float* out, const float* x, bool padded);

/// Every thread adds 1 to one place; two barriers a block.
void count_threads(int* total, int blocks, int threads);

}  // namespace mini::patterns
