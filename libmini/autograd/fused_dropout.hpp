// Dropout of elements on a GPU: one kernel draws the mask and multiplies by it. Two
// kernels, as on the CPU, would write the mask and then read it again.

#pragma once

#include "libmini/random/random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Returns dropout(x, p, true, generator) (functions.hpp). REQUIRES: x is on a GPU.
Tensor fused_dropout(const Tensor& x, double p, Generator& generator);

}  // namespace mini
