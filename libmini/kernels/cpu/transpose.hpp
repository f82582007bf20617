// Copies of transposed matrices of 4-byte elements.

#pragma once

#include <cstdint>

namespace mini::kernels::cpu {

/// How results are stored. Streamed stores bypass the caches: faster for a result that
/// does not fit into them, since its lines are not read first; slower for a smaller one.
enum class Stores { kCached, kStreamed };

/// Copies x (rows, columns) to out (columns, rows): out[j][i] = x[i][j]. A step is the
/// distance from one row to the next in memory, in elements. Copies bit patterns: the
/// elements may be of any type of 4 bytes.
void transpose(float* out, int64_t out_step, const float* x, int64_t x_step, int64_t rows,
               int64_t columns, Stores stores);

}  // namespace mini::kernels::cpu
