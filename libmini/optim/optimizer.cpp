#include "libmini/optim/optimizer.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "libmini/core/error.hpp"

namespace mini::optim {

void check_not_negative(const char* optimizer, const char* option, double value) {
    if (!std::isfinite(value))
        throw UsageError(optimizer, ": ", option, " must be finite, but is ", value);
    if (value < 0.0)
        throw UsageError(optimizer, ": ", option, " must not be negative, but is ",
                         value);
}

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr)
    : parameters_(std::move(parameters)), lr_(lr) {
    if (parameters_.empty()) throw UsageError("optimizer: got no parameters");
    std::unordered_map<const void*, size_t> seen;  // the index of each tensor
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const Tensor& parameter = parameters_[i];
        const auto [first, is_new] = seen.try_emplace(parameter.id(), i);
        const std::string fault =
            !parameter.is_leaf()         ? "the result of an operation, not a leaf"
            : !parameter.is_contiguous() ? "not contiguous; use ops::contiguous"
            : is_new                     ? ""
                     : concat("the same tensor as parameter ", first->second,
                              "; pass each once, as Module::parameters() returns them");
        if (!fault.empty())
            throw UsageError("optimizer: parameter ", i, " of shape ", parameter.shape(),
                             " is ", fault);
    }
}

void Optimizer::zero_grad() {
    for (Tensor& parameter : parameters_) parameter.set_grad({});
}

double Optimizer::initial_lr() {
    if (!initial_lr_) initial_lr_ = lr();
    return *initial_lr_;
}

}  // namespace mini::optim
