#include "libmini/tensor/shape.hpp"

#include <algorithm>

namespace mini {

int64_t checked_product(int64_t a, int64_t b, const Shape& shape) {
    int64_t product = 0;
    check_shape(!__builtin_mul_overflow(a, b, &product), "tensor: the shape ", shape,
                " is too large: ", a, " * ", b, " is above 2^63 - 1");
    return product;
}

int64_t checked_sum(int64_t a, int64_t b, const Shape& shape) {
    int64_t sum = 0;
    check_shape(!__builtin_add_overflow(a, b, &sum), "tensor: the shape ", shape,
                " is too large: ", a, " + ", b, " is above 2^63 - 1");
    return sum;
}

int64_t element_count(const Shape& shape) {
    int64_t count = 1;
    for (const int64_t size : shape) {
        check_shape(size >= 0, "tensor: the shape ", shape, " has a negative size");
        count = checked_product(count, size, shape);
    }
    return count;
}

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

void check_layout(const Shape& shape, const Shape& strides, int64_t offset,
                  int64_t available) {
    const auto is_negative = [](int64_t number) { return number < 0; };
    check_shape(strides.size() == shape.size(), "as_strided: the shape ", shape,
                " needs as many strides, but there are the strides ", strides);
    check_shape(std::ranges::none_of(strides, is_negative) && offset >= 0,
                "as_strided: the strides ", strides, " and the offset ", offset,
                " must not be negative");
    const int64_t last = last_position(shape, strides, offset);
    check_shape(last < available, "as_strided: the shape ", shape, " with strides ",
                strides, " and offset ", offset, " has its last element at position ",
                last, ", but the storage has ", available, " elements");
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
