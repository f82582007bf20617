// Pooling: layers that reduce the size of images (N, C, H, W), each plane separately.

#pragma once

#include <cstdint>

#include "libmini/nn/module.hpp"

namespace mini::nn {

/// The maximum of each window; stride 0 means the window's size (`torch.nn.MaxPool2d`).
class MaxPool2d : public Module {
  public:
    explicit MaxPool2d(int64_t kernel_size, int64_t stride = 0, int64_t padding = 0)
        : kernel_size_(kernel_size), stride_(stride), padding_(padding) {}
    Tensor forward(const Tensor& x) override;

  private:
    int64_t kernel_size_;
    int64_t stride_;
    int64_t padding_;
};

struct AvgPool2dOptions {
    int64_t stride = 0;  // 0 means the window's size
    int64_t padding = 0;
    bool count_include_pad = true;
};

/// The mean of each window (`torch.nn.AvgPool2d`).
class AvgPool2d : public Module {
  public:
    explicit AvgPool2d(int64_t kernel_size, AvgPool2dOptions options = {})
        : kernel_size_(kernel_size), options_(options) {}
    Tensor forward(const Tensor& x) override;

  private:
    int64_t kernel_size_;
    AvgPool2dOptions options_;
};

/// The means of a grid of rectangles, for an output of the given size and any image size
/// (`torch.nn.AdaptiveAvgPool2d`).
class AdaptiveAvgPool2d : public Module {
  public:
    explicit AdaptiveAvgPool2d(int64_t output_size)
        : AdaptiveAvgPool2d(output_size, output_size) {}
    AdaptiveAvgPool2d(int64_t output_rows, int64_t output_cols)
        : output_rows_(output_rows), output_cols_(output_cols) {}
    Tensor forward(const Tensor& x) override;

  private:
    int64_t output_rows_;
    int64_t output_cols_;
};

}  // namespace mini::nn
