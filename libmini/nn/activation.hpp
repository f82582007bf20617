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

/// A function with a dimension as a module.
template <Tensor (*kFunction)(const Tensor&, int64_t dim), int64_t kDefault>
class FunctionOfDimension : public Module {
  public:
    explicit FunctionOfDimension(int64_t dim = kDefault) : dim_(dim) {}
    Tensor forward(const Tensor& x) override { return kFunction(x, dim_); }

  private:
    int64_t dim_;
};

/// The modules of PyTorch with these names (`torch.nn.ReLU`, ...).
using ReLU = Activation<relu>;
using Sigmoid = Activation<sigmoid>;
using Tanh = Activation<tanh>;
using GELU = Activation<gelu>;
using Softmax = FunctionOfDimension<softmax, -1>;
using LogSoftmax = FunctionOfDimension<log_softmax, -1>;

/// Returns x (`torch.nn.Identity`).
class Identity : public Module {
  public:
    Tensor forward(const Tensor& x) override { return x; }
};

/// Reshapes (N, ...) to (N, product of the other sizes) (`torch.nn.Flatten`).
using Flatten = FunctionOfDimension<flatten, 1>;

}  // namespace mini::nn
