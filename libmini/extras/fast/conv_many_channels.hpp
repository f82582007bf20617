// Convolution of many channels as products of matrices: see conv_many_channels.cpp.

#pragma once

#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu {

/// Returns the method for convolutions with at least 32 channels; null if it is slower.
const ConvKernels* many_channels(const ImageExtents& in, const Window& window);

}  // namespace mini::kernels::cpu
