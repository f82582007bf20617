// Tensors in print, as PyTorch shows them.

#pragma once

#include <ostream>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Writes "tensor([[0.1000, 2.0000], [3.5000, 4.0000]])": floats with four digits, rows
/// nested, long dimensions cut in the middle to their first and last three.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace mini
