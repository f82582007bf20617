// Views: the backward function applies the inverse view to the gradient.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor view(const Tensor& x, Shape shape) {
    return record("view", ops::view(x, std::move(shape)), {x},
                  [from = x.shape()](const Tensor& g, const Node&) -> Grads {
                      return {ops::reshape(g, from)};
                  });
}

Tensor reshape(const Tensor& x, Shape shape) {
    return record("reshape", ops::reshape(x, std::move(shape)), {x},
                  [from = x.shape()](const Tensor& g, const Node&) -> Grads {
                      return {ops::reshape(g, from)};
                  });
}

Tensor flatten(const Tensor& x, int64_t start_dim) {
    x.size(start_dim);  // throws if the dimension does not exist
    const int64_t kept = start_dim < 0 ? start_dim + x.dim() : start_dim;
    Shape shape(x.shape().begin(), x.shape().begin() + kept);
    int64_t rest = 1;
    for (int64_t d = kept; d < x.dim(); ++d) rest *= x.size(d);
    shape.push_back(rest);
    return reshape(x, std::move(shape));
}

Tensor permute(const Tensor& x, const Shape& dims) {
    Tensor y = ops::permute(x, dims);
    Shape inverse(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
        const int64_t from = dims[d] < 0 ? dims[d] + x.dim() : dims[d];
        inverse[static_cast<size_t>(from)] = static_cast<int64_t>(d);
    }
    return record("permute", y, {x}, [inverse](const Tensor& g, const Node&) -> Grads {
        return {ops::permute(g, inverse)};
    });
}

Tensor to(const Tensor& x, Device device) {
    if (device == x.device()) return x;
    return record("to", x.to(device), {x},
                  [from = x.device()](const Tensor& g, const Node&) -> Grads {
                      return {g.to(from)};
                  });
}

Tensor transpose(const Tensor& x, int64_t d0, int64_t d1) {
    return record("transpose", ops::transpose(x, d0, d1), {x},
                  [d0, d1](const Tensor& g, const Node&) -> Grads {
                      return {ops::transpose(g, d0, d1)};
                  });
}

// Elements that are not in the view have the gradient 0.
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
    return record(
        "narrow", ops::narrow(x, dim, start, length), {x},
        [shape = x.shape(), dim, start, length](const Tensor& g, const Node&) -> Grads {
            Tensor dx = g.new_zeros(shape);
            Tensor part = ops::narrow(dx, dim, start, length);
            ops::copy_(part, g);
            return {dx};
        });
}

Tensor select(const Tensor& x, int64_t dim, int64_t index) {
    return record("select", ops::select(x, dim, index), {x},
                  [shape = x.shape(), dim, index](const Tensor& g, const Node&) -> Grads {
                      Tensor dx = g.new_zeros(shape);
                      Tensor part = ops::select(dx, dim, index);
                      ops::copy_(part, g);
                      return {dx};
                  });
}

Tensor expand(const Tensor& x, const Shape& shape) {
    return record("expand", ops::expand(x, shape), {x},
                  [from = x.shape()](const Tensor& g, const Node&) -> Grads {
                      return {ops::sum_to(g, from)};
                  });
}

Tensor Tensor::operator[](int64_t index) const { return mini::select(*this, 0, index); }

Tensor Tensor::operator[](Slice slice) const {
    const int64_t count = size(0);
    for (int64_t* const i : {&slice.start, &slice.end})
        *i = std::clamp<int64_t>(*i < 0 ? *i + count : *i, 0, count);
    return narrow(*this, 0, slice.start, std::max<int64_t>(0, slice.end - slice.start));
}

}  // namespace mini
