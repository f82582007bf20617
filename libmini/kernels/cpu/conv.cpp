// Convolution: chooses the method.
//
//                                 direct               product              im2col
//     forward, gradient of x      where it fits        from 32 rows on      otherwise
//     gradient of w               below 64 channels    from 32 rows on      otherwise
//
// Rows are the channels of the result: so often is each gathered element used. Below 32,
// gathering costs more than im2col's longer copies.

#include <cstdint>

#include "libmini/kernels/cpu/conv_direct.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/cpu/conv_product.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr int64_t kProductRows = 32;
constexpr int64_t kDirectWeightRows = 64;  // the gradient of w: product from here on

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const auto method = direct::fits(in, window) ? direct::conv2d
                        : O >= kProductRows      ? product::conv2d
                                                 : im2col::conv2d;
    method(y, x, w, bias, in, O, window);
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window) {
    const auto method = direct::fits(in, window) ? direct::backward_input
                        : in.C >= kProductRows   ? product::backward_input
                                                 : im2col::backward_input;
    method(dx, g, w, in, O, window);
}

void conv2d_backward_weight(float* dw, float* dbias, const float* g, const float* x,
                            ImageExtents in, int64_t O, Window window) {
    const auto method = direct::fits(in, window) && O < kDirectWeightRows
                            ? direct::backward_weight
                        : O >= kProductRows ? product::backward_weight
                                            : im2col::backward_weight;
    method(dw, g, x, in, O, window);

    // The bias is added to every output, so its gradient is the sum of g.
    if (dbias == nullptr) return;
    const int64_t M = window.output(in.H) * window.output(in.W);
    const auto per_image = scratch(in.N * O);
    sum(per_image.get(), g, in.N * O, M, 1);
    sum(dbias, per_image.get(), 1, in.N, O);
}

}  // namespace mini::kernels::cpu
