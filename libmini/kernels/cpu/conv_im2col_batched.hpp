// Convolution as a product of matrices with less copying: see conv_im2col_batched.cpp.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::im2col_batched {

/// Returns whether these functions copy less than those of conv_im2col.hpp: stride 1, or
/// so few output positions that several images share a product.
bool fits(const ImageExtents& in, const Window& window);

/// As cpu::conv2d.
void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window);

/// As cpu::conv2d_backward_input.
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window);

/// Computes dw of cpu::conv2d_backward_weight.
void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window);

}  // namespace mini::kernels::cpu::im2col_batched
