#include "libmini/nn/norm.hpp"

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::nn {

BatchNorm::BatchNorm(int64_t num_features, BatchNormOptions options)
    : num_features_(num_features), options_(options) {
    if (options.affine) {
        weight = Tensor::ones({num_features});
        bias = Tensor::zeros({num_features});
    }
    if (options.track_running_stats) {
        running_mean = Tensor::zeros({num_features});
        running_var = Tensor::ones({num_features});
        num_batches_tracked = Tensor::zeros({}, DType::kInt64);
    }
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    register_buffer("running_mean", running_mean);
    register_buffer("running_var", running_var);
    register_buffer("num_batches_tracked", num_batches_tracked);
}

Tensor BatchNorm::normalise(const Tensor& x) {
    check_shape(x.size(1) == num_features_, "batch_norm: the input is ", x.shape(),
                " but the module has ", num_features_, " channels");
    const bool is_tracked = running_mean.defined();
    const bool updates = is_training() && is_tracked;
    // Without a momentum, all batches have equal weight.
    const bool averages_all = !options_.momentum && updates;
    const double batches = averages_all ? num_batches_tracked.item() + 1 : 1;

    Tensor y = batch_norm(x, running_mean, running_var, weight, bias,
                          {.training = is_training() || !is_tracked,
                           .momentum = options_.momentum.value_or(1.0 / batches),
                           .eps = options_.eps});
    if (updates) ops::increment_(num_batches_tracked);
    return y;
}

Tensor BatchNorm1d::forward(const Tensor& x) {
    check_shape(x.dim() == 2 || x.dim() == 3, "BatchNorm1d: the input is ", x.shape(),
                ", not (N, C) or (N, C, L)");
    return normalise(x);
}

Tensor BatchNorm2d::forward(const Tensor& x) {
    check_shape(x.dim() == 4, "BatchNorm2d: the input is ", x.shape(),
                ", not (N, C, H, W)");
    return normalise(x);
}

LayerNorm::LayerNorm(int64_t features, double eps)
    : weight(Tensor::ones({features})), bias(Tensor::zeros({features})), eps_(eps) {
    register_parameter("weight", weight);
    register_parameter("bias", bias);
}

Tensor LayerNorm::forward(const Tensor& x) {
    check_shape(x.dim() > 0 && x.size(-1) == weight.numel(), "layer_norm: the input is ",
                x.shape(), " but the module has ", weight.numel(), " features");
    return layer_norm(x, weight, bias, eps_);
}

}  // namespace mini::nn
