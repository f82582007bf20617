// Orthonormal columns by the Gram-Schmidt process, for PowerSGD.
//
//     for each column, from the first to the last:
//         subtract its projections on the previous columns, twice
//         divide it by its length
//
// A projection of column c on a previous column b of length 1 is (c . b) b. In exact
// arithmetic one pass suffices. In float32 the first pass leaves rounding errors,
// relative to the old length of c; if little of c is left, they are a large part of it.
// The second pass removes them.

#pragma once

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Makes the columns of `matrix` (n, r) orthonormal, in place, without changing the space
/// that the first 1, 2, ..., r columns span. Dot products are summed in double. A column
/// of length l is divided by l + epsilon. A column becomes zero if, after the
/// subtractions, its length is at most 1e-5 times its old length: then it is a linear
/// combination of the previous columns, and the rest is rounding errors. A matrix on a GPU
/// is copied to the CPU and back. REQUIRES: float32, contiguous.
void orthogonalize(Tensor& matrix, double epsilon = 0.0);

}  // namespace mini::parallel
