// Dropout: multiplication by a random mask. g is always dL/dy.

#include <cstddef>
#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/overlap.hpp"

namespace mini {
namespace {

// Sets each element of x to `value` with the given probability, otherwise to 0, and
// returns x. A GPU uses its own generator, seeded from `generator`.
Tensor draw_mask(Tensor x, double probability, float value, Generator& generator) {
    if (x.device().is_cpu()) {
        fill_bernoulli(x.span<float>(), probability, generator);
        ops::mul_(x, value);
        return x;
    }
    on_gpu(x.device(), [&](cudaStream_t stream) {
        gpu::fill_bernoulli(x.data<float>(), x.numel(), probability, value,
                            {.seed = generator.random64()}, stream);
    });
    return x;
}

// Returns x times a random mask, whose elements are 0 with probability p, otherwise
// 1 / (1 - p). The mask is broadcast to the shape of x.
Tensor times_mask(const char* name, const Tensor& x, double p, const Shape& mask_shape,
                  Generator& generator) {
    const float scale = 1.0f / static_cast<float>(1.0 - p);
    // [lab05.4] Multiply by one mask in both directions.
    const Tensor mask = draw_mask(x.new_empty(mask_shape), 1.0 - p, scale, generator);
    return record(
        name, ops::mul(x, mask), {x},
        [mask](const Tensor& g, const Node&) -> Grads { return {ops::mul(g, mask)}; });
    // [lab05.4]
}

void check_probability(const char* name, double p) {
    if (!(p >= 0.0 && p <= 1.0))
        throw UsageError(name, ": the probability must be in [0, 1], but is ", p);
}

// Returns dropout of x with p = 1, which draws nothing. NaN and infinity become NaN.
Tensor times_zero(const Tensor& x) { return x * 0.0f; }

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training, Generator& generator) {
    check_probability("dropout", p);
    if (!training || p == 0.0) return x;
    if (p == 1.0) return times_zero(x);
    if (x.is_contiguous()) return times_mask("dropout", x, p, x.shape(), generator);

    // The mask of a transposed tensor is drawn in the order of its memory.
    const Shape order = memory_order(x);
    Shape inverse(order.size());
    for (size_t d = 0; d < order.size(); ++d)
        inverse[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    const Tensor in_order = permute(x, order);
    return permute(times_mask("dropout", in_order, p, in_order.shape(), generator),
                   inverse);
}

Tensor dropout2d(const Tensor& x, double p, bool training, Generator& generator) {
    check_probability("dropout2d", p);
    check_shape(x.dim() >= 2, "dropout2d: the input is ", x.shape(), ", not (N, C, ...)");
    if (training && p == 1.0) return times_zero(x);
    // [lab05.4] In training, multiply each channel of each sample by its own number.
    if (!training || p == 0.0) return x;
    Shape channels(x.shape().size(), 1);
    channels[0] = x.size(0);
    channels[1] = x.size(1);
    return times_mask("dropout2d", x, p, channels, generator);
    // [lab05.4]
}

}  // namespace mini
