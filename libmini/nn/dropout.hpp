// Dropout: in training, sets random elements or channels to zero (Srivastava et al.
// 2014); in evaluation, returns the input. Draws from the calling thread's
// default_generator().

#pragma once

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Sets single elements to zero with probability p (`torch.nn.Dropout`).
class Dropout : public Module {
  public:
    explicit Dropout(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override { return dropout(x, p_, is_training()); }

  private:
    double p_;
};

/// Sets whole channels of (N, C, H, W) to zero with probability p (`torch.nn.Dropout2d`).
class Dropout2d : public Module {
  public:
    explicit Dropout2d(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override { return dropout2d(x, p_, is_training()); }

  private:
    double p_;
};

}  // namespace mini::nn
