// Prints tensors in PyTorch's format.

#pragma once

#include <ostream>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Prints "tensor([[0.1000, 2.0000], [3.5000, 4.0000]])": floats with four decimal
/// places, rows nested. Of a long dimension it prints only the first and last three
/// elements.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace mini
