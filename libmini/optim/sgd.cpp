#include "libmini/optim/sgd.hpp"

#include <cmath>

#include "libmini/kernels/kernels.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::optim {
namespace {

void check_not_negative(const char* name, double value) {
    if (!(value >= 0.0 && std::isfinite(value)))
        throw UsageError(concat("SGD: ", name, " must not be negative, but is ", value));
}

}  // namespace

SGD::SGD(std::vector<Tensor> parameters, SGDOptions options)
    : Optimizer(std::move(parameters)),
      options_(options),
      velocities_(parameters_.size()) {
    check_not_negative("lr", options.lr);
    check_not_negative("momentum", options.momentum);
    check_not_negative("weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0))
        throw UsageError(
            concat("SGD: nesterov needs a momentum and no dampening, but they are ",
                   options.momentum, " and ", options.dampening));
}

void SGD::step() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
        Tensor& parameter = parameters_[i];
        if (!parameter.grad().defined()) continue;

        const bool first = !velocities_[i].defined();
        if (options_.momentum != 0.0 && first)
            velocities_[i] = Tensor::empty(parameter.shape());
        const Tensor grad = ops::contiguous(parameter.grad());
        kernels::cpu::sgd_step(
            parameter.span<float>().data(),
            options_.momentum != 0.0 ? velocities_[i].data<float>() : nullptr,
            grad.data<float>(), parameter.numel(),
            {.lr = static_cast<float>(options_.lr),
             .momentum = static_cast<float>(options_.momentum),
             .dampening = static_cast<float>(options_.dampening),
             .weight_decay = static_cast<float>(options_.weight_decay),
             .nesterov = options_.nesterov,
             .first = first});
        parameter.bump_version();
    }
}

}  // namespace mini::optim
