// SGD: stochastic gradient descent with momentum.

#pragma once

#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "libmini/optim/optimizer.hpp"

namespace mini::optim {

struct SGDOptions {
    double lr = 1e-3;
    double momentum = 0.0;
    double dampening = 0.0;
    double weight_decay = 0.0;
    bool nesterov = false;
};

/// PyTorch's SGD (`torch.optim.SGD`), for each parameter p with gradient g and
/// velocity v:
///
///     g += weight_decay p
///     v  = g at the first step, then momentum v + (1 - dampening) g
///     p -= lr (nesterov ? g + momentum v : v)
///
/// With momentum 0, v is always g.
class SGD : public Optimizer {
  public:
    /// Throws UsageError for an lr, momentum or weight_decay that is negative or not
    /// finite, and for nesterov without momentum or with dampening. The message has the
    /// values.
    SGD(std::vector<Tensor> parameters, SGDOptions options);
    void step() override;

    /// Returns state.N.momentum_buffer (v), and the options.
    OptimizerState state_dict() const override;
    void load_state_dict(const OptimizerState& state) override;

  private:
    kernels::SGDStep kernel_step(bool first) const;

    SGDOptions options_;              // except lr, which is lr()
    std::vector<Tensor> velocities_;  // undefined before a parameter's first step
};

}  // namespace mini::optim
