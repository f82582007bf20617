// The layers without state, except pooling and normalisation. g is always dL/dy.

#include "libmini/autograd/functions.hpp"

#include <tuple>

#include "libmini/kernels/cuda/graph.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

// y = x wᵀ + bias, so dL/dx = g w, dL/dw = gᵀ x, dL/dbias = the sum of g over its N rows.
// The bias is the first input, as in addmm, so its gradient is ready before the weight's
// gradient. Buckets in the order of the gradients are then equal to PyTorch's buckets.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias) {
    return record("linear", ops::linear(x, w, bias), {bias, x, w},
                  [x = SavedTensor(x), w = SavedTensor(w)](const Tensor& g,
                                                           const Node& node) -> Grads {
                      // [lab03.2] Compute the gradients of bias, x and w.
                      Grads grads(3);
                      if (node.needs_input_grad(0))
                          grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
                      if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
                      if (node.needs_input_grad(2))
                          grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
                      return grads;
                      // [lab03.2]
                  });
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, int64_t stride,
              int64_t padding) {
    check_shape(w.dim() == 4, "conv2d: the weight is ", w.shape(), ", not (O, C, k, k)");
    const kernels::Window window{
        .kernel = w.size(2), .stride = stride, .padding = padding};
    return record(
        "conv2d", ops::conv2d(x, w, bias, window), {x, w, bias},
        [x = SavedTensor(x), w = SavedTensor(w), window](const Tensor& g,
                                                         const Node& node) {
            Grads grads(3);
            if (node.needs_input_grad(0))
                grads[0] =
                    ops::conv2d_backward_input(g, w.get(), x.get().shape(), window);
            if (node.needs_input_grad(1) || node.needs_input_grad(2))
                std::tie(grads[1], grads[2]) = ops::conv2d_backward_weight(
                    g, x.get(), w.get().shape(), window, node.needs_input_grad(2));
            return grads;
        });
}

namespace {

// Sets each element of x to `value` with the given probability, otherwise to 0, and
// returns x. A GPU uses its own generator, seeded from `generator`.
Tensor draw_mask(Tensor x, double probability, float value, Generator& generator) {
    if (x.device().is_cpu()) {
        fill_bernoulli(x.span<float>(), probability, generator);
        ops::mul_(x, value);
        return x;
    }
    const uint64_t seed = generator.random64();
    on_gpu(x.device(), [&](cudaStream_t stream) {
        const gpu::PhiloxState state{.seed = seed,
                                     .more_offset = cuda::RecordedDraws::more_offset()};
        gpu::fill_bernoulli(x.data<float>(), x.numel(), probability, value, state,
                            stream);
    });
    return x;
}

// Returns x times a random mask, whose elements are 0 with probability p, otherwise
// 1 / (1 - p). The mask is broadcast to the shape of x.
Tensor times_mask(const char* name, const Tensor& x, double p, const Shape& mask_shape,
                  Generator& generator) {
    const float scale = p < 1.0 ? static_cast<float>(1.0 / (1.0 - p)) : 0.0f;
    const Tensor mask = draw_mask(x.new_empty(mask_shape), 1.0 - p, scale, generator);
    return record(
        name, ops::mul(x, mask), {x},
        [mask](const Tensor& g, const Node&) -> Grads { return {ops::mul(g, mask)}; });
}

void check_probability(const char* name, double p) {
    if (!(p >= 0.0 && p <= 1.0))
        throw UsageError(concat(name, ": the probability must be in [0, 1], but is ", p));
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training, Generator& generator) {
    check_probability("dropout", p);
    if (!training || p == 0.0) return x;
    return times_mask("dropout", x, p, x.shape(), generator);
}

Tensor dropout2d(const Tensor& x, double p, bool training, Generator& generator) {
    check_probability("dropout2d", p);
    check_shape(x.dim() >= 2, "dropout2d: the input is ", x.shape(), ", not (N, C, ...)");
    if (!training || p == 0.0) return x;
    Shape channels(x.shape().size(), 1);
    channels[0] = x.size(0);
    channels[1] = x.size(1);
    return times_mask("dropout2d", x, p, channels, generator);
}

// With y = log softmax(x), dL/dx = g - softmax(x) * (the sum of g over the row).
Tensor log_softmax(const Tensor& x) {
    Tensor y = ops::log_softmax(x);
    return record("log_softmax", y, {x},
                  [y = SavedTensor(y)](const Tensor& g, const Node&) -> Grads {
                      return {ops::log_softmax_backward(g, y.get())};
                  });
}

}  // namespace mini
