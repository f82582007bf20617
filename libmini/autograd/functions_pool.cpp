// Max pooling: the gradient of an output goes to the maximum of its window. g is dL/dy.

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor max_pool2d(const Tensor& x, int64_t kernel_size, int64_t stride, int64_t padding) {
    const kernels::Window window{.kernel = kernel_size,
                                 .stride = stride == 0 ? kernel_size : stride,
                                 .padding = padding};
    ops::MaxPooled pooled = ops::max_pool2d(x, window);
    return record("max_pool2d", pooled.values, {x},
                  [where = pooled.where, shape = x.shape(), window](
                      const Tensor& g, const Node&) -> Grads {
                      return {ops::max_pool2d_backward(g, *where, shape, window)};
                  });
}

}  // namespace mini
