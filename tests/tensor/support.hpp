// Helpers for the tests of libmini/tensor.

#pragma once

#include <cstddef>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::test {

using Values = std::vector<float>;

/// Returns a tensor of this shape with the elements 0, 1, 2, ...
inline Tensor count_up(const Shape& shape) {
    Values values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Tensor::from(values, shape);
}

}  // namespace mini::test
