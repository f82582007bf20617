// Tensors whose elements are read by hand, for the checks of lab 01: no kernel is used.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::labs {

using Values = std::vector<float>;

/// Returns the position of each element in the storage, in row-major order of the
/// indices.
inline std::vector<int64_t> positions(const Shape& shape, const Shape& strides,
                                      int64_t offset) {
    std::vector<int64_t> found;
    for (int64_t i = 0, n = element_count(shape); i < n; ++i) {
        int64_t rest = i, position = offset;
        for (size_t d = shape.size(); d-- > 0;) {
            position += rest % shape[d] * strides[d];
            rest /= shape[d];
        }
        found.push_back(position);
    }
    return found;
}

/// Returns a tensor whose storage has the elements 0, 1, 2, ...: each element is its own
/// position.
inline Tensor count_up(const Shape& shape) {
    Values values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Tensor::from(values, shape, Device::cpu());
}

/// Returns the elements of a view of count_up(...), read from the storage.
inline Values elements(const Tensor& x) {
    const float* const storage = x.data<float>() - x.offset();
    Values values;
    for (const int64_t position : positions(x.shape(), x.strides(), x.offset()))
        values.push_back(storage[position]);
    return values;
}

/// Returns a tensor's layout in words: "shape (3, 2), strides (1, 3), offset 0".
inline std::string layout(const Tensor& x) {
    return concat("shape ", x.shape(), ", strides ", x.strides(), ", offset ",
                  x.offset());
}

}  // namespace mini::labs
