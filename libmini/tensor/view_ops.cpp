#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "libmini/tensor/ops.hpp"

// [lab01 file]
namespace mini::ops {

Tensor permute(const Tensor& x, const Shape& dims) {
    check_shape(dims.size() == x.shape().size(), "permute: ", dims,
                " does not name every dimension of ", x.shape(), " once");
    Shape shape;
    Shape strides;
    std::vector<bool> seen(dims.size());
    // [lab01.3] Add the size and the stride of each dimension that `dims` names.
    for (const int64_t dim : dims) {
        const size_t d = dimension("permute", x.shape(), dim);
        check_shape(!seen[d], "permute: ", dims, " names dimension ", dim, " twice");
        seen[d] = true;
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }
    // [lab01.3]
    return x.as_strided(std::move(shape), std::move(strides), x.offset());
}

Tensor transpose(const Tensor& x, int64_t d0, int64_t d1) {
    Shape shape = x.shape();
    Shape strides = x.strides();
    const size_t a = dimension("transpose", x.shape(), d0);
    const size_t b = dimension("transpose", x.shape(), d1);
    std::swap(shape[a], shape[b]);
    std::swap(strides[a], strides[b]);
    return x.as_strided(std::move(shape), std::move(strides), x.offset());
}

Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
    // [lab01.4] Change one size, and move the first element.
    const size_t d = dimension("narrow", x.shape(), dim);
    const int64_t size = x.shape()[d], first = start < 0 ? start + size : start;
    check_shape(first >= 0 && length >= 0 && first <= size - length, "narrow: ", length,
                " positions from ", start, " are not in dimension ", dim, " of ",
                x.shape());
    Shape shape = x.shape();
    shape[d] = length;
    return x.as_strided(std::move(shape), x.strides(),
                        x.offset() + first * x.strides()[d]);
    // [lab01.4]
}

Tensor select(const Tensor& x, int64_t dim, int64_t index) {
    // [lab01.4] Move the first element to the position, and remove the dimension.
    const size_t d = dimension("select", x.shape(), dim);
    const int64_t size = x.shape()[d], position = index < 0 ? index + size : index;
    check_shape(position >= 0 && position < size, "select: there is no position ", index,
                " in dimension ", dim, " of ", x.shape());
    Shape shape = x.shape();
    Shape strides = x.strides();
    const int64_t offset = x.offset() + position * strides[d];
    shape.erase(shape.begin() + static_cast<int64_t>(d));
    strides.erase(strides.begin() + static_cast<int64_t>(d));
    return x.as_strided(std::move(shape), std::move(strides), offset);
    // [lab01.4]
}

}  // namespace mini::ops
// [lab01 file]
