// Copies of transposed matrices of 4-byte elements.

#pragma once

#include "libmini/kernels/cpu/strided.hpp"

namespace mini::kernels::cpu {

/// Copies between a strided array and a contiguous one if the copy is a transpose, or
/// several: if the strided array is contiguous along another dimension than the innermost.
/// Returns false if it is not. Copies bit patterns: the elements may be of any type of
/// 4 bytes.
bool copy_transposed(float* out, const float* x, const StridedLoop<1>& loop,
                     bool to_strided);

}  // namespace mini::kernels::cpu
