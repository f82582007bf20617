#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::ops {
namespace {

// Returns x summed over dimension d; the result has size 1 in this dimension. x may have
// any strides.
Tensor sum_over(const Tensor& x, size_t d) {
    const Tensor in = contiguous(x);
    int64_t outer = 1;
    int64_t inner = 1;
    for (size_t i = 0; i < d; ++i) outer *= x.shape()[i];
    for (size_t i = d + 1; i < x.shape().size(); ++i) inner *= x.shape()[i];

    Shape shape = x.shape();
    shape[d] = 1;
    Tensor out = x.new_empty(std::move(shape));
    run<cpu::sum, gpu::sum>(x.device(), out.data<float>(), in.data<float>(), outer,
                            x.shape()[d], inner);
    return out;
}

}  // namespace

Tensor sum(const Tensor& x) { return view(sum_over(reshape(x, {x.numel()}), 0), {}); }

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim) {
    std::vector<bool> is_summed(x.shape().size());
    for (const int64_t dim : dims) {
        const size_t d = dimension("sum", x.shape(), dim);
        check_shape(!is_summed[d], "sum: ", dims, " names dimension ", dim, " twice");
        is_summed[d] = true;
    }

    Tensor result = x;
    Shape kept;
    kept.reserve(is_summed.size());
    for (size_t d = 0; d < is_summed.size(); ++d) {
        if (is_summed[d])
            result = sum_over(result, d);
        else
            kept.push_back(x.shape()[d]);
    }
    return keepdim ? contiguous(result) : reshape(result, std::move(kept));
}

Tensor argmax(const Tensor& x) {
    check_shape(x.dim() >= 1 && x.size(-1) > 0, "argmax: a tensor of shape ", x.shape(),
                " has no greatest element along its last dimension");
    const Tensor in = contiguous(x);
    Shape shape = x.shape();
    const int64_t cols = shape.back();
    shape.pop_back();
    Tensor out = Tensor::empty(shape, DType::kInt64, x.device());
    run<cpu::argmax, gpu::argmax>(x.device(), out.data<int64_t>(), in.data<float>(),
                                  out.numel(), cols);
    return out;
}

}  // namespace mini::ops
