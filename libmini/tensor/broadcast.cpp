#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libmini/tensor/ops.hpp"

namespace mini::ops {

Shape broadcast_shapes(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()));
    for (size_t back = 1; back <= result.size(); ++back) {  // from the last dimension
        const int64_t in_a = back <= a.size() ? a[a.size() - back] : 1;
        const int64_t in_b = back <= b.size() ? b[b.size() - back] : 1;
        check_shape(in_a == in_b || in_a == 1 || in_b == 1, "broadcast: the shapes ", a,
                    " and ", b, " differ in a dimension where neither is 1");
        result[result.size() - back] = in_a == 1 ? in_b : in_a;
    }
    return result;
}

Tensor expand(const Tensor& x, const Shape& shape) {
    check_shape(x.shape().size() <= shape.size(), "expand: ", x.shape(),
                " has more dimensions than ", shape);
    Shape strides(shape.size(), 0);
    const size_t added = shape.size() - x.shape().size();
    for (size_t d = added; d < shape.size(); ++d) {
        const int64_t size = x.shape()[d - added];
        check_shape(size == shape[d] || size == 1, "expand: ", x.shape(),
                    " cannot be stretched to ", shape);
        strides[d] = size == 1 ? 0 : x.strides()[d - added];
    }
    return x.as_strided(shape, std::move(strides), x.offset());
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
    if (x.shape() == shape) return x;

    // Sum over the dimensions that broadcasting added in front or expanded from 1.
    const int64_t added = x.dim() - static_cast<int64_t>(shape.size());
    Shape dims;
    for (int64_t d = 0; d < x.dim(); ++d)
        if (d < added || shape[static_cast<size_t>(d - added)] != x.size(d))
            dims.push_back(d);
    return view(sum(x, dims, /*keepdim=*/true), shape);
}

}  // namespace mini::ops
