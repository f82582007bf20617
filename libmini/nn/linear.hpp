// Linear: the fully connected layer.

#pragma once

#include <cstdint>

#include "libmini/nn/module.hpp"

namespace mini::nn {

struct LinearOptions {
    bool bias = true;
};

/// y = x wᵀ + b: x (..., in_features), y (..., out_features) (`torch.nn.Linear`). Under an
/// AutocastGuard (autograd/low_precision.hpp), computes in its dtype.
class Linear : public Module {
  public:
    Linear(int64_t in_features, int64_t out_features, LinearOptions options = {});
    Tensor forward(const Tensor& x) override;

    Tensor weight;  // (out_features, in_features)
    Tensor bias;    // (out_features); undefined if bias = false
};

}  // namespace mini::nn
