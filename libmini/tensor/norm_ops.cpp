#include "libmini/tensor/ops.hpp"

#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/dispatch.hpp"

namespace mini::ops {
namespace {

using kernels::ChannelExtents;

ChannelExtents channel_extents(const Shape& shape) {
    check_shape(shape.size() >= 2, "batch_norm: the input is ", shape,
                ", not (N, C) or (N, C, ...)");
    int64_t space = 1;
    for (size_t d = 2; d < shape.size(); ++d) space *= shape[d];
    return {.N = shape[0], .C = shape[1], .space = space};
}

// Returns the elements of a tensor of shape (C); null if the tensor is undefined.
const float* per_channel(const char* name, const Tensor& values,
                         const ChannelExtents& extents) {
    if (!values.defined()) return nullptr;
    check_shape(values.shape() == Shape{extents.C}, "batch_norm: the ", name, " is ",
                values.shape(), " but the input has ", extents.C, " channels");
    return values.contiguous_data<float>();
}

// running = (1 - momentum) running + momentum factor batch, in double on the CPU and in
// float on a GPU, as in PyTorch.
void update_average(Tensor& running, const Tensor& batch, double factor,
                    double momentum) {
    check_shape(running.shape() == batch.shape(), "batch_norm: the running values are ",
                running.shape(), " but the input has ", batch.numel(), " channels");
    if (running.device().is_cuda()) {
        mul_(running, static_cast<float>(1.0 - momentum));
        return add_(running, batch, static_cast<float>(momentum * factor));
    }
    const auto values = batch.span<float>();
    const auto averages = running.span<float>();
    for (size_t c = 0; c < values.size(); ++c)
        averages[c] = static_cast<float>((1.0 - momentum) * averages[c] +
                                         momentum * (factor * values[c]));
    running.bump_version();
}

}  // namespace

Moments channel_moments(const Tensor& x) {
    const ChannelExtents extents = channel_extents(x.shape());
    const Tensor in = contiguous(x);
    Moments moments{x.new_empty({extents.C}), x.new_empty({extents.C})};
    run<cpu::channel_moments, gpu::channel_moments>(
        x.device(), moments.mean.data<float>(), moments.variance.data<float>(),
        in.data<float>(), extents);
    return moments;
}

void update_running_(Moments& running, const Moments& moments, int64_t n,
                     double momentum) {
    for (const Tensor& average : {running.mean, running.variance})
        check_not_recorded("batch_norm", average, {},
                           "running values that do not require grad");
    const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
    update_average(running.mean, moments.mean, 1.0, momentum);
    update_average(running.variance, moments.variance, unbiased, momentum);
}

Tensor batch_norm(const Tensor& x, const Moments& moments, const Tensor& weight,
                  const Tensor& bias, double eps) {
    const ChannelExtents extents = channel_extents(x.shape());
    const Tensor in = contiguous(x);
    const Device device =
        common_device("batch_norm", x, moments.mean, moments.variance, weight, bias);
    Tensor y = x.new_empty(x.shape());
    run<cpu::batch_norm, gpu::batch_norm>(
        device, y.data<float>(), in.data<float>(),
        per_channel("mean", moments.mean, extents),
        per_channel("variance", moments.variance, extents),
        per_channel("weight", weight, extents), per_channel("bias", bias, extents),
        extents, eps);
    return y;
}

BatchNormGrads batch_norm_backward(const Tensor& g, const Tensor& x,
                                   const Moments& moments, const Tensor& weight,
                                   kernels::BatchNormBackward options) {
    const ChannelExtents extents = channel_extents(x.shape());
    const Tensor grad = contiguous(g);
    const Tensor in = contiguous(x);
    BatchNormGrads grads{x.new_empty(x.shape()), x.new_empty({extents.C}),
                         x.new_empty({extents.C})};
    run<cpu::batch_norm_backward, gpu::batch_norm_backward>(
        common_device("batch_norm", g, x, moments.mean, weight), grads.x.data<float>(),
        grads.weight.data<float>(), grads.bias.data<float>(), grad.data<float>(),
        in.data<float>(), moments.mean.data<float>(), moments.variance.data<float>(),
        per_channel("weight", weight, extents), extents, options);
    return grads;
}

}  // namespace mini::ops
