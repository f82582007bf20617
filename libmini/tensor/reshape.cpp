#include <algorithm>
#include <cstdint>
#include <utility>

#include "libmini/tensor/ops.hpp"

namespace mini::ops {
namespace {

// Returns `shape` with -1 replaced by the size that gives x.numel() elements.
Shape complete_shape(const Tensor& x, Shape shape) {
    const auto inferred = std::ranges::find(shape, -1);
    if (inferred != shape.end()) {
        *inferred = 1;
        const int64_t known = element_count(shape);
        check_shape(known > 0 && x.numel() % known == 0, "view: ", x.numel(),
                    " elements cannot be divided into rows of ", known);
        *inferred = x.numel() / known;
    }
    check_shape(element_count(shape) == x.numel(), "view: a tensor of shape ", x.shape(),
                " cannot be viewed as ", shape);
    return shape;
}

}  // namespace

Tensor view(const Tensor& x, Shape shape) {
    check_shape(x.is_contiguous(), "view: a tensor of shape ", x.shape(), " and strides ",
                x.strides(), " is not contiguous; use reshape");
    Shape completed = complete_shape(x, std::move(shape));
    Shape strides = contiguous_strides(completed);
    return x.as_strided(std::move(completed), std::move(strides), x.offset());
}

Tensor reshape(const Tensor& x, Shape shape) {
    return view(contiguous(x), std::move(shape));
}

}  // namespace mini::ops
