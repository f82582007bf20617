#include "libmini/optim/optimizer.hpp"

namespace mini::optim {

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr)
    : parameters_(std::move(parameters)), lr_(lr) {
    if (parameters_.empty()) throw UsageError("optimizer: got no parameters");
    for (size_t i = 0; i < parameters_.size(); ++i)
        if (!parameters_[i].is_leaf())
            throw UsageError(concat("optimizer: parameter ", i, " of shape ",
                                    parameters_[i].shape(),
                                    " is the result of an operation, not a leaf"));
}

void Optimizer::zero_grad() {
    // [lab04.5] Make all gradients undefined.
    for (Tensor& parameter : parameters_) parameter.set_grad({});
    // [lab04.5]
}

double Optimizer::initial_lr() {
    if (!initial_lr_) initial_lr_ = lr();
    return *initial_lr_;
}

}  // namespace mini::optim
