// Convolution of images, and its gradients, as products of matrices: im2col copies the
// elements of x under each window to a column of the matrix col, in scratch memory.
//
//     col (K, images M)     K = C kernel kernel: the places (c, p, q) of a window
//                           M = Ho Wo: the windows (i, j) of an image
//
//     y  = w col            (O, K) (K, images M)
//     dw = g colᵀ           (O, images M) (images M, K)
//     dx: dcol = wᵀ g       (K, O) (O, images M); then an element of dx is the sum of the
//                           elements of dcol that im2col would have copied from it
//
// A row of these y and g has one channel of all images; tensors have all channels of one
// image. So a product's y is copied once more, which also adds the bias, and g is copied
// before its product.
//
// The images of a batch are processed in slices, so that col has at most kMaxElements, if
// it has no more for one image, and is still in the L2 cache when the product reads it.
// Traffic besides that of the products: col is written once, x, dx, y and g are read and
// written once.
//
// The products are those of matmul(), so allow_tf32 applies.

#include <algorithm>
#include <cstdint>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 22;  // 16 MiB

// A slice of a batch of images, and the extents of its convolution.
struct Slice {
    int64_t first, images;
    int64_t C, H, W, O, Ho, Wo, kernel, stride, padding;

    __host__ __device__ int64_t places() const { return C * kernel * kernel; }  // K
    __host__ __device__ int64_t windows() const { return Ho * Wo; }             // M
    int64_t columns() const { return images * windows(); }
    int64_t pixels() const { return C * H * W; }
};

// Calls body(slice) for the slices of a batch, in their order.
template <typename Body>
void for_each_slice(const ImageExtents& in, int64_t O, const Window& window,
                    const Body& body) {
    Slice slice{.first = 0,
                .images = 0,
                .C = in.C,
                .H = in.H,
                .W = in.W,
                .O = O,
                .Ho = window.output(in.H),
                .Wo = window.output(in.W),
                .kernel = window.kernel,
                .stride = window.stride,
                .padding = window.padding};
    const int64_t per_image = std::max({slice.pixels(), slice.places() * slice.windows(),
                                        O * slice.windows(), int64_t{1}});
    const int64_t most = std::max<int64_t>(1, kMaxElements / per_image);
    for (; slice.first < in.N; slice.first += slice.images) {
        slice.images = std::min(most, in.N - slice.first);
        body(slice);
    }
}

// Splits the index of an element of (outer, inner, places).
struct Position {
    int64_t outer, inner, place;
};
struct Splitter {
    Divider by_inner, by_place;

    Splitter(int64_t inner, int64_t places) : by_inner(inner), by_place(places) {}
    __device__ Position operator()(int64_t i) const {
        const auto [row, place] = by_place.divide(i);
        const auto [outer, inner] = by_inner.divide(row);
        return {outer, inner, place};
    }
};

// Element i of col (K, images, M).
struct Im2col {
    float* col;
    const float* x;
    Slice at;
    Splitter split;
    Divider by_window, by_kernel, by_Wo;

    Im2col(float* col, const float* x, const Slice& at)
        : col(col),
          x(x + at.first * at.pixels()),
          at(at),
          split(at.images, at.windows()),
          by_window(at.kernel * at.kernel),
          by_kernel(at.kernel),
          by_Wo(at.Wo) {}

    __device__ void operator()(int64_t i) const {
        const auto [k, image, place] = split(i);
        const auto [c, tap] = by_window.divide(k);
        const auto [p, q] = by_kernel.divide(tap);
        const auto [row, column] = by_Wo.divide(place);
        const int64_t h = row * at.stride + p - at.padding;
        const int64_t w = column * at.stride + q - at.padding;
        const bool inside = h >= 0 && h < at.H && w >= 0 && w < at.W;
        col[i] = inside ? x[((image * at.C + c) * at.H + h) * at.W + w] : 0.0f;
    }
};

// Element i of dx (images, C, H W): the sum over the windows that contain it.
struct Col2im {
    float* dx;
    const float* dcol;  // (K, images, M)
    Slice at;
    Splitter split;
    Divider by_W;
    Windows rows, columns;

    Col2im(float* dx, const float* dcol, const Slice& at)
        : dx(dx + at.first * at.pixels()),
          dcol(dcol),
          at(at),
          split(at.C, at.H * at.W),
          by_W(at.W),
          rows{at.kernel, at.Ho, Divider(at.stride)},
          columns{at.kernel, at.Wo, Divider(at.stride)} {}

    __device__ void operator()(int64_t index) const {
        const auto [image, c, place] = split(index);
        const auto [h, w] = by_W.divide(place);
        const int64_t row = h + at.padding, column = w + at.padding;
        const int64_t end_i = rows.end(row), end_j = columns.end(column);
        float total = 0.0f;
        for (int64_t i = rows.first(row); i < end_i; ++i)
            for (int64_t j = columns.first(column); j < end_j; ++j) {
                const int64_t p = row - i * at.stride, q = column - j * at.stride;
                const int64_t k = (c * at.kernel + p) * at.kernel + q;
                total += dcol[(k * at.images + image) * at.windows() + i * at.Wo + j];
            }
        dx[index] = total;
    }
};

// Element i of out (A, B, M), from x (B, A, M); plus bias[b] if it is not null.
struct ExchangeOuter {
    float* out;
    const float *x, *bias;
    int64_t A;
    Splitter split;

    __device__ void operator()(int64_t i) const {
        const auto [a, b, place] = split(i);
        const float value = x[(b * A + a) * split.by_place.divisor + place];
        out[i] = bias != nullptr ? value + bias[b] : value;
    }
};

// Copies the slice's part of g (N, O, M) to `out` (O, images, M).
ExchangeOuter by_channel(float* out, const float* g, const Slice& slice) {
    return {out, g + slice.first * slice.O * slice.windows(), nullptr, slice.O,
            Splitter(slice.images, slice.windows())};
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window, cudaStream_t stream) {
    for_each_slice(in, O, window, [&](const Slice& slice) {
        const int64_t K = slice.places(), columns = slice.columns();
        const Scratch<float> col(K * columns, stream), product(O * columns, stream);
        each(Im2col(col.get(), x, slice), K * columns, stream);
        matmul(product.get(), w, col.get(), O, columns, K, {}, stream);
        each(ExchangeOuter{y + slice.first * O * slice.windows(), product.get(), bias,
                           slice.images, Splitter(O, slice.windows())},
             O * columns, stream);
    });
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window, cudaStream_t stream) {
    for_each_slice(in, O, window, [&](const Slice& slice) {
        const int64_t K = slice.places(), columns = slice.columns();
        const Scratch<float> grad(O * columns, stream), dcol(K * columns, stream);
        each(by_channel(grad.get(), g, slice), O * columns, stream);
        matmul(dcol.get(), w, grad.get(), K, columns, O, {.transpose_a = true}, stream);
        each(Col2im(dx, dcol.get(), slice), slice.images * slice.pixels(), stream);
    });
}

void conv2d_backward_weight(float* dw, float* dbias, const float* g, const float* x,
                            ImageExtents in, int64_t O, Window window,
                            cudaStream_t stream) {
    const int64_t windows = window.output(in.H) * window.output(in.W);
    if (dbias != nullptr) {
        const Scratch<float> of_image(in.N * O, stream);
        sum(of_image.get(), g, in.N * O, windows, 1, stream);
        sum(dbias, of_image.get(), 1, in.N, O, stream);
    }
    if (in.N == 0) fill(dw, 0.0f, O * in.C * window.kernel * window.kernel, stream);
    for_each_slice(in, O, window, [&](const Slice& slice) {
        const int64_t K = slice.places(), columns = slice.columns();
        const Scratch<float> grad(O * columns, stream), col(K * columns, stream);
        each(InTurn{by_channel(grad.get(), g, slice), Im2col(col.get(), x, slice),
                    O * columns},
             (O + K) * columns, stream);
        matmul(dw, grad.get(), col.get(), O, K, columns,
               {.transpose_b = true, .accumulate = slice.first > 0}, stream);
    });
}

}  // namespace mini::kernels::cuda
