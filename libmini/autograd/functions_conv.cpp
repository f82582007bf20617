// Convolution. g is always dL/dy.

#include <cstdint>
#include <tuple>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t stride,
              int64_t padding) {
    check_shape(w.dim() == 4, "conv2d: the weight is ", w.shape(), ", not (O, C, k, k)");
    const kernels::Window window{
        .kernel = w.size(2), .stride = stride, .padding = padding};
    return record(
        "conv2d", ops::conv2d(x, w, bias, window), {x, w, bias},
        [x = SavedTensor(x), w = SavedTensor(w), window](const Tensor& g,
                                                         const Node& node) -> Grads {
            // [lab05.4] Compute the gradients of x, w and bias that are needed.
            Grads grads(3);
            if (node.needs_input_grad(0))
                grads[0] =
                    ops::conv2d_backward_input(g, w.get(), x.get().shape(), window);
            if (node.needs_input_grad(1) || node.needs_input_grad(2))
                std::tie(grads[1], grads[2]) = ops::conv2d_backward_weight(
                    g, x.get(), w.get().shape(), window, node.needs_input_grad(2));
            return grads;
            // [lab05.4]
        });
}

}  // namespace mini
