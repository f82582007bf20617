// The three convolutions as products of matrices that are never stored (implicit GEMM):
//
//     out (M, N)     rows M      depth K               columns N
//     forward        o           c, p, q               image, i, j      y = w x
//     grad of x      c           o, p, q               image, h, w      dx = wᵀ g
//     grad of w      o           image, i, j           c, p, q (and 1)  dw = g xᵀ
//
// An element of the right factor, which im2col would copy (cpu/conv_im2col.cpp), is the
// element at a place (c, p, q) of the window that begins at an origin (image, i, j):
//
//     x[origin.offset + place.offset], or 0 if the row origin.row + place.p or the column
//                                      origin.col + place.q is outside the image
//
// Origins and places are found by divisions, once each; an element costs an addition and
// two comparisons. Included only by conv.cu.

#pragma once

#include <algorithm>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/strides.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cuda {

// The extents of a convolution, and the divisors that split its indices.
struct Extents {
    int64_t C, H, W, O, Ho, Wo;
    int kernel, stride, padding;
    Divider<uint32_t> by_window, by_kernel, by_stride;
    Divider<uint32_t> by_outputs, by_Wo, by_pixels, by_W;

    Extents(const ImageExtents& in, int64_t O, const Window& window)
        : C(in.C),
          H(in.H),
          W(in.W),
          O(O),
          Ho(window.output(in.H)),
          Wo(window.output(in.W)),
          kernel(static_cast<int>(window.kernel)),
          stride(static_cast<int>(window.stride)),
          padding(static_cast<int>(window.padding)),
          by_window(window.kernel * window.kernel),
          by_kernel(window.kernel),
          by_stride(window.stride),
          by_outputs(Ho * Wo),
          by_Wo(Wo),
          by_pixels(H * W),
          by_W(W) {
        const int64_t weights = std::max(C * O, C + O) * window.kernel * window.kernel;
        const int64_t image = std::max(C * H * W, O * Ho * Wo);
        MINI_CHECK(is_small(weights) && is_small(image) && is_small(in.N * H * W) &&
                       is_small(in.N * Ho * Wo),
                   "conv2d: ", in.N, " images of ", H, " x ", W, " and weights of ", C,
                   " to ", O,
                   " channels exceed 32-bit indices; split the images into parts");
    }

    int64_t outputs() const { return Ho * Wo; }
    int64_t pixels() const { return H * W; }
};

// A row or column that is outside every image, whatever is added or subtracted.
constexpr int kOutside = -(1 << 30);

struct Origin {
    int64_t offset;  // of the window's first element, which may lie in the padding
    int64_t output;  // of image, i, j in channel 0 of the gradient g
    int row, col;
};

struct alignas(16) Place {
    int offset;
    int p, q;
    int weight;  // offset of the weight of row 0 of out
};

// Where the columns of one row of out, or their sums over a part of the depth, are
// stored: row m of this column at first[m * pitch].
struct Output {
    float* first;
    int64_t pitch;
};

// Index k of (channels, kernel, kernel).
struct WindowIndex {
    int channel, p, q;
};

__device__ inline WindowIndex window_index(const Extents& at, uint32_t k) {
    const uint32_t channel = at.by_window.quotient(k);
    const uint32_t rest = k - channel * at.by_window.divisor;
    const uint32_t p = at.by_kernel.quotient(rest);
    return {static_cast<int>(channel), static_cast<int>(p),
            static_cast<int>(rest - p * at.by_kernel.divisor)};
}

// Index n of (images, rows, columns).
struct ImageIndex {
    int64_t image;
    int row, col;
    int place;  // row and col as one index
};

__device__ inline ImageIndex image_index(const Divider<uint32_t>& by_image,
                                         const Divider<uint32_t>& by_row, uint32_t n) {
    const uint32_t image = by_image.quotient(n), place = n - image * by_image.divisor;
    const uint32_t row = by_row.quotient(place);
    return {static_cast<int64_t>(image), static_cast<int>(row),
            static_cast<int>(place - row * by_row.divisor), static_cast<int>(place)};
}

// The origin of window n of (image, i, j) in x.
__device__ inline Origin origin_in_x(const Extents& at, uint32_t n) {
    const auto [image, i, j, place] = image_index(at.by_outputs, at.by_Wo, n);
    const int row = i * at.stride - at.padding, col = j * at.stride - at.padding;
    return {(image * at.C * at.H + row) * at.W + col,
            image * at.O * at.Ho * at.Wo + place, row, col};
}

// The place k of (c, p, q) in a window of x.
__device__ inline Place place_in_x(const Extents& at, uint32_t k) {
    const auto [c, p, q] = window_index(at, k);
    return {static_cast<int>((c * at.H + p) * at.W) + q, p, q, static_cast<int>(k)};
}

// Returns element `place` of the window at `origin`.
__device__ inline float element_of_x(const float* x, const Extents& at,
                                     const Origin& origin, const Place& place) {
    const auto row = static_cast<unsigned>(origin.row + place.p);
    const auto col = static_cast<unsigned>(origin.col + place.q);
    return row < at.H && col < at.W ? x[origin.offset + place.offset] : 0.0f;
}

// y (O; image, i, j) = w (O; c, p, q) times the windows of x, plus the bias.
struct Forward {
    static constexpr bool kOriginsAlongDepth = false;  // they are along the columns
    float* y;
    const float *x, *w, *bias;
    Extents at;
    uint32_t M, N, K;
    bool vector;  // four adjacent columns are four aligned adjacent elements of out

    __device__ Origin origin(uint32_t n) const { return origin_in_x(at, n); }
    __device__ Place place(uint32_t k) const { return place_in_x(at, k); }
    __device__ float a(uint32_t m, const Place& place) const {
        return w[static_cast<int64_t>(m) * K + place.weight];
    }
    __device__ float b(const Origin& origin, const Place& place) const {
        return element_of_x(x, at, origin, place);
    }
    __device__ float added(uint32_t m) const { return bias != nullptr ? bias[m] : 0.0f; }
    __device__ Output output(uint32_t n, unsigned) const {
        const uint32_t image = at.by_outputs.quotient(n);
        const int64_t outputs = at.by_outputs.divisor;
        return {y + image * (at.O - 1) * outputs + n, outputs};
    }
};

// dx (C; image, h, w) = wᵀ (C; o, p, q) times the g of the windows that contain (h, w).
// The origin is that of the last such window; places count backwards from it. Part s of
// the depth is stored behind the parts before.
template <bool kUnitStride>
struct BackwardInput {
    static constexpr bool kOriginsAlongDepth = false;
    float* dx;  // (splits, images, C, H, W)
    const float *g, *w;
    Extents at;
    uint32_t M, N, K;
    bool vector;

    __device__ Origin origin(uint32_t n) const {
        const auto [image, h, w, place] = image_index(at.by_pixels, at.by_W, n);
        const int row = h + at.padding, col = w + at.padding;
        const int64_t first = image * at.O * at.Ho * at.Wo;
        return {kUnitStride ? first + row * at.Wo + col : first, 0, row, col};
    }
    __device__ Place place(uint32_t k) const {
        const auto [o, p, q] = window_index(at, k);
        const auto plane = static_cast<int>(o * at.Ho * at.Wo);
        const int weight = (o * static_cast<int>(at.C) * at.kernel + p) * at.kernel + q;
        return {kUnitStride ? plane - p * static_cast<int>(at.Wo) - q : plane, -p, -q,
                weight};
    }
    __device__ float a(uint32_t m, const Place& place) const {
        return w[static_cast<int64_t>(m) * at.by_window.divisor + place.weight];
    }
    __device__ float b(const Origin& origin, const Place& place) const {
        const int row = origin.row + place.p, col = origin.col + place.q;
        if constexpr (kUnitStride) {
            const bool inside =
                static_cast<unsigned>(row) < at.Ho && static_cast<unsigned>(col) < at.Wo;
            return inside ? g[origin.offset + place.offset] : 0.0f;
        } else {
            if (row < 0 || col < 0) return 0.0f;
            const int64_t i = at.by_stride.quotient(static_cast<uint32_t>(row));
            const int64_t j = at.by_stride.quotient(static_cast<uint32_t>(col));
            const bool is_window =
                i * at.stride == row && j * at.stride == col && i < at.Ho && j < at.Wo;
            return is_window ? g[origin.offset + place.offset + i * at.Wo + j] : 0.0f;
        }
    }
    __device__ float added(uint32_t) const { return 0.0f; }
    __device__ Output output(uint32_t n, unsigned split) const {
        const uint32_t image = at.by_pixels.quotient(n);
        const int64_t pixels = at.by_pixels.divisor;
        const int64_t first = static_cast<int64_t>(split) * M * N;
        return {dx + first + image * (at.C - 1) * pixels + n, pixels};
    }
};

// dw (O; c, p, q) = g (O; image, i, j) times the windows of x. The last column is the
// gradient of the bias, for which b is 1. Part s of the depth is stored behind the parts
// before.
struct BackwardWeight {
    static constexpr bool kOriginsAlongDepth = true;
    static constexpr int kIsBias = -1;  // the place's `weight`
    float *dw, *dbias;                  // (splits, O, C, kernel, kernel), (splits, O)
    const float *g, *x;
    Extents at;
    uint32_t M, N, K, weights;  // weights: C * kernel * kernel
    bool vector;

    __device__ Origin origin(uint32_t k) const { return origin_in_x(at, k); }
    __device__ Place place(uint32_t n) const {
        if (n == weights) return {0, 0, 0, kIsBias};
        return place_in_x(at, n);
    }
    __device__ float a(uint32_t m, const Origin& origin) const {
        return g[static_cast<int64_t>(m) * at.by_outputs.divisor + origin.output];
    }
    __device__ float b(const Origin& origin, const Place& place) const {
        return place.weight == kIsBias ? 1.0f : element_of_x(x, at, origin, place);
    }
    __device__ float added(uint32_t) const { return 0.0f; }
    __device__ Output output(uint32_t n, unsigned split) const {
        const int64_t first = static_cast<int64_t>(split) * M;
        if (n == weights) return {dbias + first, 1};
        return {dw + first * weights + n, weights};
    }
};

}  // namespace mini::kernels::cuda
