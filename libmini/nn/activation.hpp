// Modules without parameters: activations, Identity and Flatten.

#pragma once

#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// max(x, 0) (`torch.nn.ReLU`).
class ReLU : public Module {
  public:
    Tensor forward(const Tensor& x) override { return relu(x); }
};

/// 1 / (1 + exp(-x)) (`torch.nn.Sigmoid`).
class Sigmoid : public Module {
  public:
    Tensor forward(const Tensor& x) override { return sigmoid(x); }
};

/// x times the probability that a standard normal number is below x (`torch.nn.GELU`).
class GELU : public Module {
  public:
    Tensor forward(const Tensor& x) override { return gelu(x); }
};

/// The logarithm of softmax along each row (`torch.nn.LogSoftmax(dim=1)`).
class LogSoftmax : public Module {
  public:
    Tensor forward(const Tensor& x) override { return log_softmax(x); }
};

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
