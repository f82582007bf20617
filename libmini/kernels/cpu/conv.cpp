// Convolution: im2col (conv_im2col.hpp), or a faster method that an extra has registered.

#include <cstdint>

#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr ConvKernels kIm2col = {im2col::conv2d, im2col::backward_input,
                                 im2col::backward_weight};

// Returns the registered method for a convolution, or im2col.
const ConvKernels& method_for(const ImageExtents& in, const Window& window) {
    const auto choose = faster_kernels().conv;
    const ConvKernels* faster = choose ? choose(in, window) : nullptr;
    return faster ? *faster : kIm2col;
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    method_for(in, window).forward(y, x, w, bias, in, O, window);
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window) {
    method_for(in, window).backward_input(dx, g, w, in, O, window);
}

void conv2d_backward_weight(float* dw, float* dbias, const float* g, const float* x,
                            ImageExtents in, int64_t O, Window window) {
    method_for(in, window).backward_weight(dw, g, x, in, O, window);
    if (dbias == nullptr) return;

    // Sum g over the positions, then over the images.
    const int64_t M = window.output(in.H) * window.output(in.W);
    const auto per_image = scratch(in.N * O);
    sum(per_image.get(), g, in.N * O, M, 1);
    sum(dbias, per_image.get(), 1, in.N, O);
}

}  // namespace mini::kernels::cpu
