// Optimizer: changes parameters by their gradients (`torch.optim.Optimizer`).

#pragma once

#include <optional>
#include <vector>

#include "libmini/optim/optimizer_state.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

class Optimizer {
  public:
    /// Throws UsageError when there is no parameter, or one that is no leaf.
    explicit Optimizer(std::vector<Tensor> parameters, double lr = 0.0);
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    /// Changes every parameter that has a gradient; leaves the others alone.
    virtual void step() = 0;

    /// Forgets all gradients, so that the next backward pass starts afresh.
    void zero_grad();

    /// The learning rate of the next step (`param_groups[0]["lr"]`).
    virtual double lr() const { return lr_; }
    virtual void set_lr(double lr) { lr_ = lr; }

    /// The learning rate that schedulers start from: lr() as it was when the first of
    /// them asked (`param_groups[0]["initial_lr"]`).
    double initial_lr();

    /// What step() changes, in the order given to the constructor.
    const std::vector<Tensor>& parameters() const { return parameters_; }

    /// All that the next steps depend on besides parameters and gradients: options as
    /// numbers, and what is remembered of each parameter, once it has taken a step. The
    /// tensors are the optimizer's own, not copies: save them before the next step
    /// (`Optimizer.state_dict`).
    virtual OptimizerState state_dict() const = 0;

    /// Goes on from `state`, whose tensors are copied. Throws UsageError, naming every
    /// name that is missing, unknown or of a different shape, and then changes nothing
    /// (`Optimizer.load_state_dict`).
    virtual void load_state_dict(const OptimizerState& state) = 0;

  protected:
    std::vector<Tensor> parameters_;
    double lr_;

  private:
    std::optional<double> initial_lr_;
};

}  // namespace mini::optim
