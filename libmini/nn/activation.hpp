// Modules without parameters that act element by element, or only change the shape.

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

/// The logarithm of softmax along each row (`torch.nn.LogSoftmax(dim=1)`).
class LogSoftmax : public Module {
  public:
    Tensor forward(const Tensor& x) override { return log_softmax(x); }
};

/// x itself (`torch.nn.Identity`).
class Identity : public Module {
  public:
    Tensor forward(const Tensor& x) override { return x; }
};

/// (N, ...) to (N, everything else) (`torch.nn.Flatten`).
class Flatten : public Module {
  public:
    explicit Flatten(int64_t start_dim = 1) : start_dim_(start_dim) {}
    Tensor forward(const Tensor& x) override { return flatten(x, start_dim_); }

  private:
    int64_t start_dim_;
};

}  // namespace mini::nn
