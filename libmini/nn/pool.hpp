// Max pooling: a layer that reduces the size of images (N, C, H, W), each channel
// separately.

#pragma once

#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Computes the maximum of each window (`torch.nn.MaxPool2d`). Stride 0 means
/// kernel_size.
class MaxPool2d : public Module {
  public:
    explicit MaxPool2d(int64_t kernel_size, int64_t stride = 0, int64_t padding = 0)
        : kernel_size_(kernel_size), stride_(stride), padding_(padding) {}
    Tensor forward(const Tensor& x) override {
        return max_pool2d(x, kernel_size_, stride_, padding_);
    }

  private:
    int64_t kernel_size_;
    int64_t stride_;
    int64_t padding_;
};

}  // namespace mini::nn
