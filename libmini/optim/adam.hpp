// Adam: each step changes a parameter by about lr, for small and for large gradients
// (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015).
//
// Keeps two running averages per parameter, of the gradient and of its square, so
// parameters and state together take three times the memory of the parameters.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "libmini/optim/optimizer.hpp"

namespace mini::optim {

struct AdamOptions {
    double lr = 1e-3;
    std::array<double, 2> betas = {0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 0.0;
    bool decoupled_weight_decay = false;  // AdamW
};

/// PyTorch's Adam (`torch.optim.Adam`), for each parameter p with gradient g, averages m
/// and v, at its t-th step:
///
///     g += weight_decay p                 or, if decoupled, p *= 1 - lr weight_decay
///     m  = beta0 m + (1 - beta0) g
///     v  = beta1 v + (1 - beta1) g^2
///     p -= lr m' / (sqrt(v') + eps)       m' = m / (1 - beta0^t), v' = v / (1 - beta1^t)
///
/// The results are bitwise identical to those of PyTorch builds without fused
/// multiply-add.
class Adam : public Optimizer {
  public:
    /// Throws UsageError for an option that is negative or not finite, and for a beta
    /// that is not in [0, 1).
    explicit Adam(std::vector<Tensor> parameters, AdamOptions options = {});

    void step() override;

    /// Returns state.N.step, state.N.exp_avg (m), state.N.exp_avg_sq (v), and the options.
    OptimizerState state_dict() const override;
    void load_state_dict(const OptimizerState& state) override;

  private:
    kernels::AdamStep kernel_step(int64_t step) const;

    AdamOptions options_;              // except lr, which is lr()
    std::vector<int64_t> steps_;       // per parameter
    std::vector<Tensor> exp_avgs_;     // undefined before a parameter's first step
    std::vector<Tensor> exp_avg_sqs_;  // likewise
};

struct AdamWOptions {
    double lr = 1e-3;
    std::array<double, 2> betas = {0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 1e-2;
};

/// Adam with decoupled weight decay: the decay is not part of the averages, so every
/// parameter shrinks at the same rate (`torch.optim.AdamW`; Loshchilov and Hutter, 2019).
class AdamW : public Adam {
  public:
    explicit AdamW(std::vector<Tensor> parameters, AdamWOptions options = {});
};

}  // namespace mini::optim
