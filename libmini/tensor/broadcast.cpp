#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "libmini/tensor/ops.hpp"

// [lab01 file]
namespace mini::ops {

Shape broadcast_shapes(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()));
    // [lab01.5] Match the sizes from the last dimension; a missing size counts as 1.
    for (size_t back = 1; back <= result.size(); ++back) {  // from the last dimension
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        check_shape(in_a == in_b || in_a == 1 || in_b == 1, "broadcast: the shapes ", a,
                    " and ", b, " differ in a dimension where neither is 1");
        result[result.size() - back] = in_a == 1 ? in_b : in_a;
    }
    // [lab01.5]
    return result;
}

Tensor expand(const Tensor& x, const Shape& shape) {
    check_shape(x.shape().size() <= shape.size(), "expand: ", x.shape(),
                " has more dimensions than ", shape);
    Shape strides(shape.size(), 0);
    // [lab01.5] Keep the strides of x; leave 0 for added and for expanded dimensions.
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1, "expand: ", x.shape(),
                    " cannot be stretched to ", shape);
        strides[d] = size == 1 ? 0 : x.strides()[d - added];
    }
    // [lab01.5]
    return x.as_strided(shape, std::move(strides), x.offset());
}

Shape broadcast_dims(const Shape& from, const Shape& to) {
    check_shape(broadcast_shapes(from, to) == to, "broadcast: the shape ", from,
                " cannot be broadcast to ", to);
    Shape dims;
    // [lab01.5] List the dimensions that were added in front, or expanded from size 1.
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < to.size(); ++d)
        if (d < added || from[d - added] != to[d])
            dims.push_back(static_cast<int64_t>(d));
    // [lab01.5]
    return dims;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
    if (x.shape() == shape) return x;
    return view(sum(x, broadcast_dims(shape, x.shape()), /*keepdim=*/true), shape);
}

}  // namespace mini::ops
// [lab01 file]
