// Dropout: zeroes random elements or channels in training (Srivastava et al. 2014);
// returns its input in evaluation. Draws from the calling thread's
// generator_of(Stream::kDropout) (random/streams.hpp): the default generator, unless
// streams were separated.

#pragma once

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Zeroes single elements (`torch.nn.Dropout`).
class Dropout : public Module {
  public:
    explicit Dropout(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override { return dropout(x, p_, is_training()); }

  private:
    double p_;
};

/// Zeroes whole channels of (N, C, H, W) (`torch.nn.Dropout2d`).
class Dropout2d : public Module {
  public:
    explicit Dropout2d(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override { return dropout2d(x, p_, is_training()); }

  private:
    double p_;
};

}  // namespace mini::nn
