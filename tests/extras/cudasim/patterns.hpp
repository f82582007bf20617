// Kernels with known memory traffic, for tests of the counters.

#pragma once

namespace mini::patterns {

/// Computes out[i] = x[i * stride] with `count` threads, 32 per block.
void strided_copy(float* out, const float* x, int stride, int count);

/// Copies 4 * count floats with `count` threads, 32 per block; each thread loads and
/// stores 4 floats in one access.
void vector_copy(float* out, const float* x, int count);

/// Transposes a 32 x 32 tile through shared memory, one warp per row. With `padded`, the
/// rows in shared memory have 33 elements.
void transpose_tile(float* out, const float* x, bool padded);

/// Sums 32 floats in a shared array of an inlined device function; every thread writes
/// the sum. out (32), x (32).
void block_totals(float* out, const float* x);

/// Adds 1 to *total atomically in every thread, between two block barriers.
void count_threads(int* total, int blocks, int threads);

/// Launches `blocks` blocks of a thread that loads 16 floats of `x`, each by an instruction
/// of its own. Block `writer` writes *value; block `reader` writes the sum of *read and
/// the 16 floats to *out.
void far_apart(float* out, float* value, const float* read, const float* x,
               unsigned writer, unsigned reader, unsigned blocks);

/// Launches a kernel that ends with MINI_TODO; does not write to `out`.
void unwritten(float* out);

}  // namespace mini::patterns
