// The members of Tensor that use the autograd graph.

#include <memory>
#include <utility>

#include "libmini/autograd/engine.hpp"
#include "libmini/autograd/node.hpp"

namespace mini {

bool Tensor::requires_grad() const {
    return autograd_meta() != nullptr && autograd_meta()->requires_grad;
}

Tensor& Tensor::set_requires_grad(bool value) & {
    MINI_CHECK(is_leaf(),
               "set_requires_grad: this tensor is the result of an operation; ",
               "detach() it first");
    check_shape(!value || dtype() == DType::kFloat32,
                "set_requires_grad: only float32 tensors have gradients, not ", dtype());
    if (autograd_meta() == nullptr) set_autograd_meta(std::make_shared<AutogradMeta>());
    autograd_meta()->requires_grad = value;
    return *this;
}

bool Tensor::is_leaf() const {
    return autograd_meta() == nullptr || autograd_meta()->grad_fn == nullptr;
}

const Tensor& Tensor::grad() const {
    static const Tensor none;
    return autograd_meta() == nullptr ? none : autograd_meta()->grad;
}

void Tensor::set_grad(const Tensor& grad) {
    if (grad.defined())
        check_shape(grad.shape() == shape() && grad.dtype() == dtype(),
                    "set_grad: the gradient is ", grad.dtype(), " ", grad.shape(),
                    " but the tensor is ", dtype(), " ", shape());
    if (autograd_meta() == nullptr) set_autograd_meta(std::make_shared<AutogradMeta>());
    autograd_meta()->grad = grad;
}

Tensor Tensor::detach() const { return as_strided(shape(), strides(), offset()); }

void Tensor::backward() const { backward({}); }

void Tensor::backward(const BackwardOptions& options) const {
    MINI_CHECK(requires_grad(),
               "backward: this tensor does not require grad: nothing it was computed "
               "from does, or recording was off (NoGradGuard, EvaluationGuard)");
    Tensor gradient = options.gradient;
    if (!gradient.defined()) {
        check_shape(numel() == 1, "backward: a tensor of shape ", shape(),
                    " is not a scalar; pass its gradient");
        gradient = Tensor::ones(shape(), dtype(), device());
    }
    check_shape(gradient.shape() == shape() && gradient.dtype() == dtype(),
                "backward: the gradient is ", gradient.dtype(), " ", gradient.shape(),
                " but the tensor is ", dtype(), " ", shape());
    if (is_leaf())
        run_backward(grad_accumulator(*this), std::move(gradient), options.retain_graph);
    else
        run_backward(autograd_meta()->grad_fn, std::move(gradient), options.retain_graph);
}

}  // namespace mini
