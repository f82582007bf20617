#include <algorithm>
#include <cstdint>

#include "libmini/tensor/shape.hpp"

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

}  // namespace mini
