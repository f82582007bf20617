#include "libmini/optim/sgd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::optim {
namespace {

SGDOptions checked(const SGDOptions& options) {
    check_not_negative("SGD", "lr", options.lr);
    check_not_negative("SGD", "momentum", options.momentum);
    check_not_negative("SGD", "weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0))
        throw UsageError(
            "SGD: nesterov needs a momentum above 0 and a dampening of 0, but ",
            "momentum is ", options.momentum, " and dampening is ", options.dampening);
    return options;
}

}  // namespace

SGD::SGD(std::vector<Tensor> parameters, SGDOptions options)
    : Optimizer(std::move(parameters), options.lr),
      options_(checked(options)),
      velocities_(parameters_.size()) {}

void SGD::step() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
        Tensor& parameter = parameters_[i];
        if (!parameter.grad().defined()) continue;

        const bool first = !velocities_[i].defined();
        if (options_.momentum != 0.0 && first)
            velocities_[i] = parameter.new_empty(parameter.shape());
        const Tensor grad = ops::contiguous(parameter.grad());
        const Device device = common_device("SGD", parameter, grad, velocities_[i]);
        run<cpu::sgd_step, gpu::sgd_step>(
            device, parameter.contiguous_data<float>(),
            options_.momentum != 0.0 ? velocities_[i].data<float>() : nullptr,
            grad.data<float>(), parameter.numel(), kernel_step(first));
        parameter.bump_version();
    }
}

kernels::SGDStep SGD::kernel_step(bool first) const {
    return {.lr = static_cast<float>(lr()),
            .momentum = static_cast<float>(options_.momentum),
            .dampening = static_cast<float>(options_.dampening),
            .weight_decay = static_cast<float>(options_.weight_decay),
            .nesterov = options_.nesterov,
            .first = first};
}

OptimizerState SGD::state_dict() const {
    OptimizerState state;
    state.numbers = {{"lr", lr()},
                     {"momentum", options_.momentum},
                     {"dampening", options_.dampening},
                     {"weight_decay", options_.weight_decay},
                     {"nesterov", options_.nesterov}};
    for (size_t i = 0; i < parameters_.size(); ++i)
        if (velocities_[i].defined())
            state.tensors[state_name(i, "momentum_buffer")] = velocities_[i];
    return state;
}

void SGD::load_state_dict(const OptimizerState& state) {
    StateReader reader("SGD", state, parameters_);
    const SGDOptions options = {.lr = reader.number("lr"),
                                .momentum = reader.number("momentum"),
                                .dampening = reader.number("dampening"),
                                .weight_decay = reader.number("weight_decay"),
                                .nesterov = reader.number("nesterov") != 0};
    auto velocities = reader.tensors("momentum_buffer");
    reader.finish();

    options_ = checked(options);
    set_lr(options.lr);
    velocities_ = std::move(velocities);
}

}  // namespace mini::optim
