// Prints tensors in PyTorch's format.

#pragma once

#include <ostream>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Prints "tensor([[0.1000, 2.0000], [3.5000, 4.0000]])": floats with four decimal
/// places, rows nested; ", dtype=" and the dtype unless it is float32. Prints only the
/// first three and the last three elements of a dimension with more than eight.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace mini
