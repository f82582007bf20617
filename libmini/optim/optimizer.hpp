// Optimizer: changes parameters by their gradients (`torch.optim.Optimizer`).

#pragma once

#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

class Optimizer {
  public:
    /// Throws UsageError when there is no parameter, or one that is no leaf.
    explicit Optimizer(std::vector<Tensor> parameters);
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    /// Changes every parameter that has a gradient; leaves the others alone.
    virtual void step() = 0;

    /// Forgets all gradients, so that the next backward pass starts afresh.
    void zero_grad();

  protected:
    std::vector<Tensor> parameters_;
};

}  // namespace mini::optim
