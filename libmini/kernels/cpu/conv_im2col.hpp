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

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::im2col {

/// Copies the elements of one image under the window to col. Row (c kernel + p) kernel + q
/// of col has, at i Wo + j, the element under element (p, q) of the window whose output is
/// (i, j): x[c, i stride + p - padding, j stride + q - padding], or 0 if this is outside
/// the image. Writes all of col. `in.N` plays no part.
void im2col(float* col,      // (K, M)
            const float* x,  // (C, H, W)
            ImageExtents in, Window window);

/// Sets each element of dx to the sum of the elements of dcol to which im2col copies this
/// element of x, or to 0 if there are none.
void col2im(float* dx,          // (C, H, W)
            const float* dcol,  // (K, M)
            ImageExtents in, Window window);

/// As cpu::conv2d, cpu::conv2d_backward_input, and cpu::conv2d_backward_weight without the
/// bias, for the `in.N` images. Whatever y, dx and dw contain before is replaced. The bits
/// of the results do not depend on the number of threads.
/// @{
void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window);
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window);
void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window);
/// @}

}  // namespace mini::kernels::cpu::im2col
