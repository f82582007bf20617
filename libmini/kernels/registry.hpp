// The registry of kernels: an extra offers kernels here that replace the core's where they
// fit (libmini/extras/fast). Without any, the core's kernels compute everything.

#pragma once

#include <cstdint>

#include "libmini/kernels/cpu/pool_plane.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels {

/// As cpu::conv2d_backward_weight, without the gradient of the bias.
using ConvBackwardWeight = void(float* dw, const float* g, const float* x,
                                ImageExtents in, int64_t O, Window window);

/// A method of convolution.
struct ConvKernels {
    decltype(cpu::conv2d)* forward;
    decltype(cpu::conv2d_backward_input)* backward_input;
    ConvBackwardWeight* backward_weight;
};

/// Max pooling of one plane, as cpu::max_pool_plane, and its gradient.
struct PoolKernels {
    decltype(cpu::max_pool_plane)* forward;
    decltype(cpu::max_pool_plane_backward)* backward;
};

/// Functions that choose a faster kernel where one fits; null: the core's computes all.
struct FasterKernels {
    /// Returns the method for a convolution and its gradients, or null.
    const ConvKernels* (*conv)(const ImageExtents&, const Window&) = nullptr;
    /// Returns the max pooling of such images, or null.
    const PoolKernels* (*pool)(const ImageExtents&, const Window&) = nullptr;
};

/// Returns the faster kernels of the process, which an extra sets in main, before the first
/// computation; null members if none were set.
inline FasterKernels& faster_kernels() {
    static FasterKernels registered;
    return registered;
}

}  // namespace mini::kernels
