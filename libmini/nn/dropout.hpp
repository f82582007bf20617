// Dropout: in training, forget at random (Srivastava et al. 2014); in evaluation, do
// nothing. Draws come from the calling thread's dropout stream (core/streams.hpp): the
// default generator, unless streams were separated.

#pragma once

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Single elements (`torch.nn.Dropout`).
class Dropout : public Module {
  public:
    explicit Dropout(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override { return dropout(x, p_, is_training()); }

  private:
    double p_;
};

/// Whole channels of (N, C, H, W) (`torch.nn.Dropout2d`).
class Dropout2d : public Module {
  public:
    explicit Dropout2d(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override { return dropout2d(x, p_, is_training()); }

  private:
    double p_;
};

}  // namespace mini::nn
