#include "libmini/optim/optimizer.hpp"

#include <cmath>
#include <cstddef>
#include <unordered_map>

#include "libmini/core/error.hpp"

namespace mini::optim {
namespace {

void check_different(const std::vector<Tensor>& parameters) {
    std::unordered_map<const void*, size_t> seen;  // the index of each tensor
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto [first, is_new] = seen.try_emplace(parameters[i].id(), i);
        if (!is_new)
            throw UsageError(concat("optimizer: parameters ", first->second, " and ", i,
                                    " are the same tensor of shape ",
                                    parameters[i].shape(),
                                    "; pass each parameter once, as "
                                    "Module::parameters() returns them"));
    }
}

}  // namespace

void check_not_negative(const char* optimizer, const char* option, double value) {
    if (!std::isfinite(value))
        throw UsageError(
            concat(optimizer, ": ", option, " must be finite, but is ", value));
    if (value < 0.0)
        throw UsageError(
            concat(optimizer, ": ", option, " must not be negative, but is ", value));
}

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr)
    : parameters_(std::move(parameters)), lr_(lr) {
    if (parameters_.empty()) throw UsageError("optimizer: got no parameters");
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const Tensor& parameter = parameters_[i];
        const std::string which =
            concat("optimizer: parameter ", i, " of shape ", parameter.shape());
        if (!parameter.is_leaf())
            throw UsageError(which + " is the result of an operation, not a leaf");
        if (!parameter.is_contiguous())
            throw UsageError(concat(which, " and strides ", parameter.strides(),
                                    " is not contiguous; use ops::contiguous"));
    }
    check_different(parameters_);
}

void Optimizer::zero_grad() {
    for (Tensor& parameter : parameters_) parameter.set_grad({});
}

double Optimizer::initial_lr() {
    if (!initial_lr_) initial_lr_ = lr();
    return *initial_lr_;
}

}  // namespace mini::optim
