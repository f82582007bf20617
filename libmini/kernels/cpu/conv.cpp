// Convolution: chooses the method.
//
//                                 direct               product              im2col
//     forward, gradient of x      where it fits        from 32 rows on      otherwise
//     gradient of w               below 64 channels    from 32 rows on      otherwise
//
// Rows are the channels of the result: so often is each gathered element used. Below 32,
// gathering costs more than im2col's longer copies. im2col_batched replaces im2col where
// it fits.

#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cpu/conv_direct.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/cpu/conv_im2col_batched.hpp"
#include "libmini/kernels/cpu/conv_product.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr int64_t kProductRows = 32;
constexpr int64_t kDirectWeightRows = 64;  // the gradient of w: product from here on

struct Method {
    decltype(&conv2d) forward;
    decltype(&conv2d_backward_input) backward_input;
    decltype(&im2col::backward_weight) backward_weight;
};

constexpr Method kDirect = {direct::conv2d, direct::backward_input,
                            direct::backward_weight};
constexpr Method kProduct = {product::conv2d, product::backward_input,
                             product::backward_weight};
constexpr Method kIm2col = {im2col::conv2d, im2col::backward_input,
                            im2col::backward_weight};
constexpr Method kBatched = {im2col_batched::conv2d, im2col_batched::backward_input,
                             im2col_batched::backward_weight};

// Returns the method of a convolution whose result has `rows` channels.
const Method& method_of(const ImageExtents& in, const Window& window, int64_t rows) {
    // [lab05.3] Choose the method by the table above.
    if (direct::fits(in, window)) return kDirect;
    if (rows >= kProductRows) return kProduct;
    return im2col_batched::fits(in, window) ? kBatched : kIm2col;
    // [lab05.3]
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    method_of(in, window, O).forward(y, x, w, bias, in, O, window);
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window) {
    method_of(in, window, in.C).backward_input(dx, g, w, in, O, window);
}

void conv2d_backward_weight(float* dw, float* dbias, const float* g, const float* x,
                            ImageExtents in, int64_t O, Window window) {
    const Method& method = O >= kDirectWeightRows ? kProduct : method_of(in, window, O);
    method.backward_weight(dw, g, x, in, O, window);
    if (dbias == nullptr) return;
    const int64_t M = window.output(in.H) * window.output(in.W);
    // [lab05.3] Sum g over the positions, then over the images.
    const auto per_image = scratch(in.N * O);
    sum(per_image.get(), g, in.N * O, M, 1);
    sum(dbias, per_image.get(), 1, in.N, O);
    // [lab05.3]
}

}  // namespace mini::kernels::cpu
