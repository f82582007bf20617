// The registry of kernels: an extra offers kernels here that replace the core's where they
// fit (libmini/extras/fast). Without any, the core's kernels compute everything.

#pragma once

#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels {

/// The functions of a method of convolution: as cpu::conv2d, cpu::conv2d_backward_input,
/// and cpu::conv2d_backward_weight without the bias.
/// @{
using ConvForward = decltype(cpu::conv2d);
using ConvBackwardInput = decltype(cpu::conv2d_backward_input);
using ConvBackwardWeight = void(float* dw, const float* g, const float* x,
                                ImageExtents in, int64_t O, Window window);
/// @}

/// A method of convolution.
struct ConvKernels {
    ConvForward* forward;
    ConvBackwardInput* backward_input;
    ConvBackwardWeight* backward_weight;
};

/// Max pooling of one plane, as cpu::max_pool_plane.
using PoolPlane = void(float* y, int32_t* indices, const float* x, int64_t H, int64_t W,
                       Window window);

/// Null members leave the work to the core.
struct FasterKernels {
    /// Returns the method for a convolution and its gradients, or null.
    const ConvKernels* (*conv)(const ImageExtents&, const Window&) = nullptr;
    /// Returns the pooling of windows of this kind, or null.
    PoolPlane* (*pool)(const Window&) = nullptr;
};

/// Sets the kernels of the process. Call it in main, before the first computation.
void use_faster_kernels(const FasterKernels& kernels);

/// Returns the kernels of the process; null members if none were set.
const FasterKernels& faster_kernels();

}  // namespace mini::kernels
