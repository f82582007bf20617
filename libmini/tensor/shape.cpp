#include "libmini/tensor/shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// [lab01 file]
namespace mini {

Shape contiguous_strides(const Shape& shape) {
    Shape strides(shape.size());
    // [lab01.1] From the last dimension on, multiply the sizes into the strides.
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride = checked_product(stride, std::max<int64_t>(shape[d], 1), shape);
    }
    // [lab01.1]
    return strides;
}

bool is_contiguous(const Shape& shape, const Shape& strides) {
    // [lab01.1] Compare the strides that are used with the contiguous ones.
    if (element_count(shape) == 0) return true;
    int64_t expected = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != expected) return false;
        expected *= shape[d];
    }
    return true;
    // [lab01.1]
}

int64_t last_position(const Shape& shape, const Shape& strides, int64_t offset) {
    // [lab01.2] Go from the first element to the last index of each dimension.
    if (element_count(shape) == 0) return -1;
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t distance = checked_product(shape[d] - 1, strides[d], shape);
        position = checked_sum(position, distance, shape);
    }
    return position;
    // [lab01.2]
}

size_t dimension(const char* function, const Shape& shape, int64_t d) {
    const auto dims = static_cast<int64_t>(shape.size());
    // [lab01.3] Count a negative dimension from the end; check and return the index.
    const int64_t from_front = d < 0 ? d + dims : d;
    check_shape(from_front >= 0 && from_front < dims, function, ": a tensor of shape ",
                shape, " has no dimension ", d);
    return static_cast<size_t>(from_front);
    // [lab01.3]
}

}  // namespace mini
// [lab01 file]
