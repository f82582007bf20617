// What the tests of the tensor room share.

#pragma once

#include <cstddef>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::test {

using Values = std::vector<float>;

/// 0, 1, 2, ... in this shape.
inline Tensor count_up(const Shape& shape) {
    Values values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Tensor::from(values, shape);
}

}  // namespace mini::test
