// Conv2d: the convolutional layer.

#pragma once

#include <cstdint>

#include "libmini/nn/module.hpp"

namespace mini::nn {

struct Conv2dOptions {
    int64_t stride = 1;
    int64_t padding = 0;
    bool bias = true;
};

/// Cross-correlation of images (N, C, H, W) with square kernels, result (N, O, Ho, Wo)
/// (`torch.nn.Conv2d`).
class Conv2d : public Module {
  public:
    Conv2d(int64_t in_channels, int64_t out_channels, int64_t kernel_size,
           Conv2dOptions options = {});
    Tensor forward(const Tensor& x) override;

    Tensor weight;  // (out_channels, in_channels, kernel_size, kernel_size)
    Tensor bias;    // (out_channels); undefined if bias = false

  private:
    Conv2dOptions options_;
};

}  // namespace mini::nn
