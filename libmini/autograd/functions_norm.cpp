// Batch normalisation with the batch's mean and variance, or with the running mean and
// variance; layer normalisation.

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

// Returns the number of values per channel of a training batch. Throws ShapeError for
// fewer than two values, because their unbiased variance is undefined.
int64_t values_per_channel(const Tensor& x) {
    check_shape(x.dim() >= 2, "batch_norm: the input is ", x.shape(),
                ", not (N, C) or (N, C, ...)");
    int64_t count = x.size(0);
    for (int64_t d = 2; d < x.dim(); ++d) count *= x.size(d);
    check_shape(count >= 2,
                "batch_norm: training needs two values or more in each channel, ",
                "but the input is ", x.shape(),
                "; use a larger batch, or call eval() on the module");
    return count;
}

// Returns the mean and variance for the normalisation. In training, returns the mean and
// variance of the batch, and updates `running`. In evaluation, returns a copy of
// `running`, because a later batch may update `running` before this batch's backward
// pass.
ops::Moments choose_moments(const Tensor& x, ops::Moments running,
                            const BatchNormMode& mode) {
    const bool is_tracked = running.mean.defined() && running.variance.defined();
    if (!mode.training) {
        if (!is_tracked)
            throw UsageError(
                "batch_norm: outside of training it needs running_mean and running_var");
        return {ops::clone(running.mean), ops::clone(running.variance)};
    }
    const int64_t count = values_per_channel(x);
    ops::Moments moments = ops::channel_moments(x);
    if (is_tracked) ops::update_running_(running, moments, count, mode.momentum);
    return moments;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, BatchNormMode mode) {
    const ops::Moments moments = choose_moments(x, {running_mean, running_var}, mode);
    return record("batch_norm", ops::batch_norm(x, moments, weight, bias, mode.eps),
                  {x, weight, bias},
                  [x = SavedTensor(x), weight = SavedTensor(weight), moments, mode](
                      const Tensor& g, const Node&) -> Grads {
                      const ops::BatchNormGrads grads = ops::batch_norm_backward(
                          g, x.get(), moments, weight.get(),
                          {.eps = mode.eps, .of_batch = mode.training});
                      return {grads.x, grads.weight, grads.bias};
                  });
}

// The rows are the channels of one sample: x (1, rows, D).
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
    check_shape(x.dim() >= 1 && x.size(-1) >= 2, "layer_norm: the rows of ", x.shape(),
                " need two values or more");
    const Tensor rows = reshape(x, {1, -1, x.size(-1)});
    Tensor y = reshape(batch_norm(rows, {}, {}, {}, {}, {.training = true, .eps = eps}),
                       x.shape());
    if (weight.defined()) y = y * weight;
    return bias.defined() ? y + bias : y;
}

}  // namespace mini
