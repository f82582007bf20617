// Convolution as a product of matrices, one image at a time.
//
// im2col copies the elements under the window, at each output position (i, j), to one
// column of a matrix col. With the weights as a matrix, each of the three convolutions is
// then one product:
//
//     forward            y (O, M)     =  w (O, K)   col (K, M)        K = C kernel kernel
//     gradient of x      dcol (K, M)  =  wᵀ (K, O)  g (O, M)          M = Ho Wo
//     gradient of w      dw (O, K)   +=  g (O, M)   colᵀ (M, K)
//
// and col2im adds each element of dcol to the element of the image that im2col copies to
// the same element of col. (Chellapilla, Puri, Simard 2006, "High performance
// convolutional neural networks for document processing".)

#pragma once

#include <cstdint>

#include "libmini/kernels/cpu/border.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::im2col {

/// Images that a thread processes together: the gradient of w sums this many first.
constexpr int64_t kImagesPerChunk = 8;

/// The extents of one image's convolution as a product of matrices. The image has its
/// padding, a border of zeros, so that each window lies inside it.
struct Lowering {
    int64_t C, H, W;  // the image with its border
    int64_t kernel, stride, padding;
    int64_t Ho, Wo;  // the output
    int64_t K, M;    // col

    Lowering(const ImageExtents& in, const Window& window)
        : C(in.C),
          H(in.H + 2 * window.padding),
          W(in.W + 2 * window.padding),
          kernel(window.kernel),
          stride(window.stride),
          padding(window.padding),
          Ho(window.output(in.H)),
          Wo(window.output(in.W)),
          K(C * kernel * kernel),
          M(Ho * Wo) {}

    /// Returns the extents of the image without its border.
    Bordered image() const { return {C, H - 2 * padding, W - 2 * padding, padding}; }
};

/// Copies the elements of x under the window to col. Row (c kernel + p) kernel + q of col
/// has, at i Wo + j, the element of channel c under element (p, q) of the window whose
/// output is (i, j): x[c, i stride + p, j stride + q].
void im2col(float* col,      // (K, M)
            const float* x,  // (C, H, W)
            const Lowering& lowering);

/// Sets each element of dx to the sum of the elements of dcol to which im2col copies this
/// element of x, or to 0 if there are none. The order of the additions, on which
/// the last bits depend, is that of the loops c, i, p, q, j.
void col2im(float* dx,          // (C, H, W)
            const float* dcol,  // (K, M)
            const Lowering& lowering);

/// As cpu::conv2d.
void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window);

/// As cpu::conv2d_backward_input.
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window);

/// Computes dw of cpu::conv2d_backward_weight.
void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window);

}  // namespace mini::kernels::cpu::im2col
