// Convolution at stride 1 without copies of the input: each kernel keeps a tile of the
// result in registers while it adds all products that belong to the tile. conv_product.hpp
// and conv_im2col.hpp have methods for all windows; conv.cpp chooses.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::direct {

/// Returns whether these functions can compute a convolution: kernel 3 or 5, stride 1, and
/// an output of at least 4 rows of 8.
bool fits(const ImageExtents& in, const Window& window);

/// As cpu::conv2d. REQUIRES: fits().
void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window);

/// As cpu::conv2d_backward_input. REQUIRES: fits().
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window);

/// Computes dw of cpu::conv2d_backward_weight. REQUIRES: fits().
void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window);

}  // namespace mini::kernels::cpu::direct
