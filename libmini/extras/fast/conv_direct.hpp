// The direct method of convolution at stride 1: it copies the input only to give a padded image
// its border, and keeps a tile of the result in registers for all products of the tile.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::direct {

/// Returns whether these functions can compute a convolution: a window of 3 x 3 or 5 x 5,
/// stride 1, and an output at least 4 high and 8 wide. Each of them REQUIRES it.
bool fits(const ImageExtents& in, const Window& window);

/// @{ As the functions of im2col (libmini/kernels/cpu/conv_im2col.hpp).
void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window);
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window);
void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window);
/// @}

}  // namespace mini::kernels::cpu::direct
