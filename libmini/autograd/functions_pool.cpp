// Pooling: the gradient of an output goes to the inputs of its window. g is always dL/dy.

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

Tensor average(const char* name, const Tensor& x, ops::PoolSpans spans) {
    const Tensor y = ops::avg_pool2d(x, spans);
    return record(name, y, {x},
                  [spans = std::move(spans), shape = x.shape()](const Tensor& g,
                                                                const Node&) -> Grads {
                      return {ops::avg_pool2d_backward(g, shape, spans)};
                  });
}

// A stride of 0 means the window's own size.
kernels::Window window_of(int64_t kernel_size, int64_t stride, int64_t padding) {
    return {.kernel = kernel_size,
            .stride = stride == 0 ? kernel_size : stride,
            .padding = padding};
}

}  // namespace

Tensor max_pool2d(const Tensor& x, int64_t kernel_size, int64_t stride, int64_t padding) {
    const kernels::Window window = window_of(kernel_size, stride, padding);
    ops::MaxPooled pooled = ops::max_pool2d(x, window);
    return record("max_pool2d", pooled.values, {x},
                  [where = pooled.where, shape = x.shape(), window](
                      const Tensor& g, const Node&) -> Grads {
                      return {ops::max_pool2d_backward(g, *where, shape, window)};
                  });
}

Tensor avg_pool2d(const Tensor& x, int64_t kernel_size, int64_t stride, int64_t padding,
                  bool count_include_pad) {
    const kernels::Window window = window_of(kernel_size, stride, padding);
    return average("avg_pool2d", x,
                   ops::avg_pool2d_spans(x.shape(), window, count_include_pad));
}

Tensor adaptive_avg_pool2d(const Tensor& x, int64_t output_rows, int64_t output_cols) {
    return average("adaptive_avg_pool2d", x,
                   ops::adaptive_avg_pool2d_spans(x.shape(), output_rows, output_cols));
}

}  // namespace mini
