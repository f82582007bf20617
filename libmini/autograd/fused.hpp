// Functions that have a kernel of their own on a GPU, in place of several.

#pragma once

#include <cstdint>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Returns the sum of the cross-entropies of all rows, divided by `divisor`. One kernel
/// computes the losses and the gradient. Shapes: scores (N, C), classes (N,) int64.
/// REQUIRES: `classes` is contiguous. Throws Error if the tensors are on two devices.
Tensor cross_entropy_on_gpu(const Tensor& scores, const Tensor& classes, int64_t divisor);

}  // namespace mini
