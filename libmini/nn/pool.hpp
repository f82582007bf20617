// Pooling: layers that reduce the size of images (N, C, H, W), each channel separately.

#pragma once

#include <cstdint>

#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Computes the maximum of each window (`torch.nn.MaxPool2d`). Stride 0 means
/// kernel_size.
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
    int64_t stride = 0;  // 0 means kernel_size
    int64_t padding = 0;
    bool count_include_pad = true;
};

/// Computes the mean of each window (`torch.nn.AvgPool2d`).
class AvgPool2d : public Module {
  public:
    explicit AvgPool2d(int64_t kernel_size, AvgPool2dOptions options = {})
        : kernel_size_(kernel_size), options_(options) {}
    Tensor forward(const Tensor& x) override;

  private:
    int64_t kernel_size_;
    AvgPool2dOptions options_;
};

/// Covers an image of any size with a grid of output_rows x output_cols rectangles, and
/// computes the mean of each rectangle (`torch.nn.AdaptiveAvgPool2d`).
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
