// The linear layer and log_softmax. g is always dL/dy.

#include "libmini/autograd/functions.hpp"

#include <utility>

#include "libmini/tensor/ops.hpp"

namespace mini {

// y = x wᵀ + bias, so dL/dx = g w, dL/dw = gᵀ x, dL/dbias = the sum of g over its N rows.
// The bias is the first input, as in addmm, so its gradient is ready before the weight's
// gradient. Buckets in the order of the gradients are then equal to PyTorch's buckets.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias) {
    if (x.dim() > 2) {  // compute with one matrix of all rows
        Shape shape = x.shape();
        shape.back() = w.size(0);
        return reshape(linear(reshape(x, {-1, x.size(-1)}), w, bias), std::move(shape));
    }
    return record("linear", ops::linear(x, w, bias), {bias, x, w},
                  [x = SavedTensor(x), w = SavedTensor(w)](const Tensor& g,
                                                           const Node& node) -> Grads {
                      // [lab03.3] Compute the gradients of bias, x and w.
                      Grads grads(3);
                      if (node.needs_input_grad(0))
                          grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
                      if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
                      if (node.needs_input_grad(2))
                          grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
                      return grads;
                      // [lab03.3]
                  });
}

// With y = log softmax(x), dL/dx = g - softmax(x) * (the sum of g over the row).
Tensor log_softmax(const Tensor& x, int64_t dim) {
    Tensor y = ops::log_softmax(x, dim);
    return record("log_softmax", y, {x},
                  [y = SavedTensor(y), dim](const Tensor& g, const Node&) -> Grads {
                      return {ops::log_softmax_backward(g, y.get(), dim)};
                  });
}

}  // namespace mini
