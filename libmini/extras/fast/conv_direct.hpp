// The direct method of convolution: at stride 1, without copies of the input. Each kernel
// keeps a tile of the result in registers while it adds all products of the tile.

#pragma once

#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu::direct {

/// Returns whether these functions can compute a convolution: kernel 3 or 5, stride 1, and
/// an output of at least 4 rows of 8. Each of them REQUIRES it.
bool fits(const ImageExtents& in, const Window& window);

ConvForward conv2d;
ConvBackwardInput backward_input;
ConvBackwardWeight backward_weight;

}  // namespace mini::kernels::cpu::direct
