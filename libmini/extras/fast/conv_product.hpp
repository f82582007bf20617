// Convolution as a product of matrices in panels, for every window: see conv_product.cpp.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::product {

/// As cpu::conv2d.
void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window);

/// As cpu::conv2d_backward_input.
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window);

/// Computes dw of cpu::conv2d_backward_weight.
void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window);

}  // namespace mini::kernels::cpu::product
