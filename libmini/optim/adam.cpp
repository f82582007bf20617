#include "libmini/optim/adam.hpp"

#include <cstdint>
#include <vector>

#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::optim {
namespace {

void check_beta(size_t index, double beta) {
    if (!(beta >= 0.0 && beta < 1.0))
        throw UsageError("Adam: beta ", index, " must be in [0, 1), but is ", beta);
}

AdamOptions checked(const AdamOptions& options) {
    check_not_negative("Adam", "lr", options.lr);
    check_not_negative("Adam", "eps", options.eps);
    check_beta(0, options.betas[0]);
    check_beta(1, options.betas[1]);
    check_not_negative("Adam", "weight_decay", options.weight_decay);
    return options;
}

}  // namespace

Adam::Adam(std::vector<Tensor> parameters, AdamOptions options)
    : Optimizer(std::move(parameters), options.lr),
      options_(checked(options)),
      steps_(parameters_.size()),
      exp_avgs_(parameters_.size()),
      exp_avg_sqs_(parameters_.size()) {}

void Adam::step() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
        Tensor& parameter = parameters_[i];
        if (!parameter.grad().defined()) continue;
        if (steps_[i]++ == 0) {
            exp_avgs_[i] = parameter.new_zeros(parameter.shape());
            exp_avg_sqs_[i] = parameter.new_zeros(parameter.shape());
        }

        const Tensor grad = ops::contiguous(parameter.grad());
        const Device device = common_device("Adam", parameter, grad, exp_avgs_[i]);
        run<cpu::adam_step, gpu::adam_step>(
            device, parameter.contiguous_data<float>(), exp_avgs_[i].data<float>(),
            exp_avg_sqs_[i].data<float>(), grad.data<float>(), parameter.numel(),
            kernel_step(steps_[i]));
        parameter.bump_version();
    }
}

kernels::AdamStep Adam::kernel_step(int64_t step) const {
    return {.lr = lr(),
            .beta1 = options_.betas[0],
            .beta2 = options_.betas[1],
            .eps = options_.eps,
            .weight_decay = options_.weight_decay,
            .decoupled = options_.decoupled_weight_decay,
            .step = step};
}

OptimizerState Adam::state_dict() const {
    OptimizerState state;
    state.numbers = {{"lr", lr()},
                     {"betas.0", options_.betas[0]},
                     {"betas.1", options_.betas[1]},
                     {"eps", options_.eps},
                     {"weight_decay", options_.weight_decay},
                     {"decoupled_weight_decay", options_.decoupled_weight_decay}};
    for (size_t i = 0; i < parameters_.size(); ++i) {
        if (steps_[i] == 0) continue;
        state.numbers[state_name(i, "step")] = static_cast<double>(steps_[i]);
        state.tensors[state_name(i, "exp_avg")] = exp_avgs_[i];
        state.tensors[state_name(i, "exp_avg_sq")] = exp_avg_sqs_[i];
    }
    return state;
}

void Adam::load_state_dict(const OptimizerState& state) {
    StateReader reader("Adam", state, parameters_);
    const AdamOptions options = {
        .lr = reader.number("lr"),
        .betas = {reader.number("betas.0"), reader.number("betas.1")},
        .eps = reader.number("eps"),
        .weight_decay = reader.number("weight_decay"),
        .decoupled_weight_decay = reader.number("decoupled_weight_decay") != 0};
    const std::vector<int64_t> steps = reader.steps();
    auto exp_avgs = reader.tensors("exp_avg", steps);
    auto exp_avg_sqs = reader.tensors("exp_avg_sq", steps);
    reader.finish();

    options_ = checked(options);
    set_lr(options.lr);
    steps_ = steps;
    exp_avgs_ = std::move(exp_avgs);
    exp_avg_sqs_ = std::move(exp_avg_sqs);
}

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions options)
    : Adam(std::move(parameters), {.lr = options.lr,
                                   .betas = options.betas,
                                   .eps = options.eps,
                                   .weight_decay = options.weight_decay,
                                   .decoupled_weight_decay = true}) {}

}  // namespace mini::optim
