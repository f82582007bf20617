// Losses: first one loss per sample or element, then the reduction. Both steps have a
// gradient.

#include "libmini/autograd/functions.hpp"

#include <cstddef>
#include <span>

#include "libmini/autograd/fused.hpp"
#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

Tensor reduce(const Tensor& losses, Reduction reduction) {
    if (reduction == Reduction::kNone) return losses;
    return reduction == Reduction::kMean ? mean(losses) : sum(losses);
}

// Returns the contiguous target of nll_loss, or of a loss that includes it.
Tensor checked_classes(const Tensor& x, const Tensor& target) {
    check_shape(x.dim() == 2 && target.dim() == 1 && target.size(0) == x.size(0),
                "nll_loss: the log probabilities are ", x.shape(),
                " but the targets are ", target.shape(), "; needs (N, classes) and (N,)");
    check_shape(target.dtype() == DType::kInt64, "nll_loss: the targets are ",
                target.dtype(), ", not int64");
    const Tensor classes = ops::contiguous(target);
    if (target.device().is_cuda()) return classes;  // a check would block; NaN instead
    const std::span<const int64_t> values = classes.span<int64_t>();
    for (size_t i = 0; i < values.size(); ++i)
        MINI_CHECK(values[i] >= 0 && values[i] < x.size(1), "nll_loss: target ",
                   values[i], " at position ", i, " is not a class; there are ",
                   x.size(1));
    return classes;
}

void check_probabilities(const char* role, const Tensor& x, const char* next_step) {
    if (x.device().is_cuda()) return;  // as in checked_classes
    const std::span<const float> values = x.span<float>();
    for (size_t i = 0; i < values.size(); ++i)
        MINI_CHECK(values[i] >= 0.0f && values[i] <= 1.0f, "binary_cross_entropy: the ",
                   role, " ", values[i], " at position ", i, " is not a probability; ",
                   next_step);
}

// The gradients of binary_cross_entropy: of p, and of t.
Tensor probability_gradient(const Tensor& g, const Tensor& p, const Tensor& t) {
    const Tensor grad = ops::contiguous(g);
    Tensor dp = g.new_empty(p.shape());
    run<cpu::binary_cross_entropy_backward, gpu::binary_cross_entropy_backward>(
        g.device(), dp.data<float>(), grad.data<float>(), p.data<float>(),
        t.data<float>(), dp.numel());
    return dp;
}

// dL/dt = g (log(1 - p) - log p), not clamped.
Tensor target_gradient(const Tensor& g, const Tensor& p) {
    using kernels::UnaryOp;
    const Tensor rest = ops::sub(number_like(p, 1), p);
    return ops::mul(
        g, ops::sub(ops::unary(UnaryOp::kLog, rest), ops::unary(UnaryOp::kLog, p)));
}

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Reduction reduction) {
    const Tensor classes = checked_classes(log_probabilities, target);
    const Tensor in = ops::contiguous(log_probabilities);
    Tensor losses = in.new_empty({in.size(0)});
    run<cpu::nll, gpu::nll>(common_device("nll_loss", in, classes), losses.data<float>(),
                            in.data<float>(), classes.data<int64_t>(), in.size(0),
                            in.size(1));
    losses = record("nll_loss", losses, {log_probabilities},
                    [classes = SavedTensor(classes), shape = in.shape()](
                        const Tensor& g, const Node&) -> Grads {
                        const Tensor grad = ops::contiguous(g);
                        Tensor dx = g.new_empty(shape);
                        run<cpu::nll_backward, gpu::nll_backward>(
                            g.device(), dx.data<float>(), grad.data<float>(),
                            classes.get().data<int64_t>(), shape[0], shape[1]);
                        return {dx};
                    });
    return reduce(losses, reduction);
}

Tensor cross_entropy(const Tensor& scores, const Tensor& target, Reduction reduction) {
    if (scores.device().is_cuda() && scores.numel() > 0 && reduction != Reduction::kNone)
        return cross_entropy_on_gpu(scores, checked_classes(scores, target),
                                    reduction == Reduction::kMean ? scores.size(0) : 1);
    // [lab04.3] Combine two functions so that no score overflows.
    return nll_loss(log_softmax(scores), target, reduction);
    // [lab04.3]
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
    check_shape(input.shape() == target.shape(), "mse_loss: the input is ", input.shape(),
                " but the target is ", target.shape());
    const Tensor difference = input - target;
    return reduce(difference * difference, reduction);
}

Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target,
                            Reduction reduction) {
    check_shape(probability.shape() == target.shape(),
                "binary_cross_entropy: the input is ", probability.shape(),
                " but the target is ", target.shape());
    const Tensor p = ops::contiguous(probability);
    const Tensor t = ops::contiguous(target);
    check_probabilities("input", p, "apply sigmoid first");
    check_probabilities("target", t, "number the two classes 0 and 1");

    Tensor losses = p.new_empty(p.shape());
    run<cpu::binary_cross_entropy, gpu::binary_cross_entropy>(
        common_device("binary_cross_entropy", p, t), losses.data<float>(),
        p.data<float>(), t.data<float>(), p.numel());
    losses = record(
        "binary_cross_entropy", losses, {probability, target},
        [p = SavedTensor(p), t = SavedTensor(t)](const Tensor& g, const Node& node) {
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = probability_gradient(g, p.get(), t.get());
            if (node.needs_input_grad(1)) grads[1] = target_gradient(g, p.get());
            return grads;
        });
    return reduce(losses, reduction);
}

}  // namespace mini
