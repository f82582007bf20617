// Modules without parameters: activations, Identity and Flatten.

#pragma once

#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// A function as a module.
template <Tensor (*kFunction)(const Tensor&)>
class Activation : public Module {
  public:
    Tensor forward(const Tensor& x) override { return kFunction(x); }
};

/// The modules of PyTorch with these names (`torch.nn.ReLU`, ...). Softmax and LogSoftmax
/// are those of the last dimension, of each row.
using ReLU = Activation<relu>;
using Sigmoid = Activation<sigmoid>;
using Tanh = Activation<tanh>;
using GELU = Activation<gelu>;
using Softmax = Activation<softmax>;
using LogSoftmax = Activation<log_softmax>;

/// Returns x (`torch.nn.Identity`).
class Identity : public Module {
  public:
    Tensor forward(const Tensor& x) override { return x; }
};

/// Reshapes (N, ...) to (N, product of the other sizes) (`torch.nn.Flatten`).
class Flatten : public Module {
  public:
    explicit Flatten(int64_t start_dim = 1) : start_dim_(start_dim) {}
    Tensor forward(const Tensor& x) override { return flatten(x, start_dim_); }

  private:
    int64_t start_dim_;
};

}  // namespace mini::nn
