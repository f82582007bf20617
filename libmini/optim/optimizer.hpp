// Optimizer: updates parameters by their gradients (`torch.optim.Optimizer`).

#pragma once

#include <optional>
#include <vector>

#include "libmini/optim/optimizer_state.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

/// Throws UsageError, naming the optimizer and the option, unless `value` is finite and
/// not negative.
void check_not_negative(const char* optimizer, const char* option, double value);

class Optimizer {
  public:
    /// Throws UsageError when `parameters` is empty, has a tensor that is not a leaf, or has
    /// a tensor twice, which would take two steps each time.
    explicit Optimizer(std::vector<Tensor> parameters, double lr = 0.0);
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    /// Updates every parameter that has a gradient; does not change the others.
    virtual void step() = 0;

    /// Clears all gradients: they become undefined, so that the next backward pass does
    /// not accumulate into them.
    void zero_grad();

    /// Returns the learning rate of the next step (`param_groups[0]["lr"]`).
    double lr() const { return lr_; }

    /// Sets the learning rate of the next steps.
    void set_lr(double lr) { lr_ = lr; }

    /// Returns the learning rate that schedulers start from: lr() at the first call of
    /// this function (`param_groups[0]["initial_lr"]`).
    double initial_lr();

    /// Returns the parameters that step() updates, in the order of the constructor's
    /// list.
    const std::vector<Tensor>& parameters() const { return parameters_; }

    /// Returns the state that the next steps depend on, besides parameters and gradients:
    /// the options as numbers, and the state of each parameter that has taken a step
    /// (`Optimizer.state_dict`). The tensors share storage with the optimizer: save or
    /// clone the tensors before the next step().
    virtual OptimizerState state_dict() const = 0;

    /// Restores `state`, and copies its tensors (`Optimizer.load_state_dict`). Throws
    /// UsageError with the first name that is missing or unknown, or of a different shape
    /// or dtype; the optimizer is then unchanged.
    virtual void load_state_dict(const OptimizerState& state) = 0;

  protected:
    std::vector<Tensor> parameters_;
    double lr_;

  private:
    std::optional<double> initial_lr_;
};

}  // namespace mini::optim
