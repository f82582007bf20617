// Prints tensors in PyTorch's format.

#pragma once

#include <ostream>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Prints, for example,
///
///     tensor([[0.1000, 2.0000],
///             [3.5000, 4.0000]])
///
/// as PyTorch does: all elements in one format and of one width, the rows in lines of their
/// own; ", dtype=" and the dtype unless it is float32 or int64, without PyTorch's "torch.";
/// of a tensor with more than 1000 elements, only the first three and the last three of
/// each dimension. The device and the autograd state are not printed. On a GPU, blocks
/// until the current stream has completed.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

/// Prints a shape as (2, 3), where namespace mini is searched: `using namespace mini`.
inline std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << concat(shape);
}

}  // namespace mini
