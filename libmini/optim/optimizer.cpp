#include "libmini/optim/optimizer.hpp"

namespace mini::optim {

Optimizer::Optimizer(std::vector<Tensor> parameters)
    : parameters_(std::move(parameters)) {
    if (parameters_.empty()) throw UsageError("optimizer: got no parameters");
    for (size_t i = 0; i < parameters_.size(); ++i)
        if (!parameters_[i].is_leaf())
            throw UsageError(concat("optimizer: parameter ", i, " of shape ",
                                    parameters_[i].shape(),
                                    " is the result of an operation, not a leaf"));
}

void Optimizer::zero_grad() {
    for (Tensor& parameter : parameters_) parameter.set_grad({});
}

}  // namespace mini::optim
