// Convolution with channels in the lanes of vectors.
//
// The images are copied to the order (H, W, N, C): a position is a matrix of N rows. An
// element (p, q) of the window is a matrix too, and a convolution a sum of products:
//
//     forward         y[i, j] (N, O)   =  sum of x[h, w] (N, C)    w[p, q] (C, O)
//     gradient of x   dx[h, w] (N, C)  =  sum of g[i, j] (N, O)    w[p, q]ᵀ (O, C)
//     gradient of w   dw[p, q] (O, C)  =  sum of g[i, j]ᵀ (O, N)   x[h, w] (N, C)
//
// with h = i stride + p - padding, and w from j and q likewise. Padding is left out: on
// 4 x 4 images it is in a third of im2col's products, on 2 x 2 in five ninths.
// Results are computed in panels of kColumns channels, in tiles with sums in registers.

#include "libmini/extras/fast/conv_many_channels.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/scratch.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr int kTileRows = kHas32Registers ? 8 : 4;
constexpr int64_t kColumns = 2 * kWideLanes;  // of a tile

// The distances, in floats, of the rows and the columns of a matrix.
struct Strides {
    int64_t row, column;
};

// Adds a (T, length) times b (length, kColumns) to out (T, kColumns). s: strides of a.
template <int T>
void add_tile(float* out, const float* a, const float* b, int64_t length, Strides s) {
    WideVector sums[T][2];
    for (int t = 0; t < T; ++t)
        for (int v = 0; v < 2; ++v)
            sums[t][v] = load<WideVector>(out + t * kColumns + v * kWideLanes);
    for (int64_t l = 0; l < length; ++l, a += s.column, b += kColumns) {
        const auto left = load<WideVector>(b), right = load<WideVector>(b + kWideLanes);
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) {
            const auto factor = broadcast<WideVector>(a[t * s.row]);
            sums[t][0] += factor * left;
            sums[t][1] += factor * right;
        }
    }
    for (int t = 0; t < T; ++t)
        for (int v = 0; v < 2; ++v)
            store(out + t * kColumns + v * kWideLanes, sums[t][v]);
}

// Adds a (rows, length) times b (length, kColumns) to out (rows, kColumns).
template <int T = kTileRows>
void add_product(float* out, const float* a, const float* b, int64_t rows, int64_t length,
                 Strides s) {
    for (; rows >= T; rows -= T, out += T * kColumns, a += T * s.row)
        add_tile<T>(out, a, b, length, s);
    if constexpr (T > 1) add_product<T / 2>(out, a, b, rows, length, s);
}

// Transposes a square block: the halves of rows and columns, then their halves.
template <int step = kWideLanes / 2>
void transpose_block(WideVector (&rows)[kWideLanes]) {
    const auto swap = []<int... lane>(WideVector & a, WideVector & b,
                                      std::integer_sequence<int, lane...>) {
        constexpr int L = kWideLanes;
        const auto c =
            __builtin_shufflevector(a, b, (lane & step ? L + lane - step : lane)...);
        b = __builtin_shufflevector(a, b, (lane & step ? L + lane : lane + step)...);
        a = c;
    };
#pragma GCC unroll 16
    for (int row = 0; row < kWideLanes; ++row)
        if ((row & step) == 0)
            swap(rows[row], rows[row + step],
                 std::make_integer_sequence<int, kWideLanes>());
    if constexpr (step > 1) transpose_block<step / 2>(rows);
}

// Sets to(column)[row] to from(row)[column] for each element of a matrix (rows, columns).
template <typename To, typename From>
void transpose(const To& to, const From& from, int64_t rows, int64_t columns) {
    const int64_t row_end = rows / kWideLanes * kWideLanes;  // of whole blocks
    const int64_t column_end = columns / kWideLanes * kWideLanes;
    for (int64_t column = 0; column < column_end; column += kWideLanes)
        for (int64_t row = 0; row < row_end; row += kWideLanes) {
            WideVector block[kWideLanes];
#pragma GCC unroll 16
            for (int k = 0; k < kWideLanes; ++k)
                block[k] = load<WideVector>(from(row + k) + column);
            transpose_block(block);
#pragma GCC unroll 16
            for (int k = 0; k < kWideLanes; ++k) store(to(column + k) + row, block[k]);
        }
    for (int64_t column = 0; column < columns; ++column)
        for (int64_t row = column < column_end ? row_end : 0; row < rows; ++row)
            to(column)[row] = from(row)[column];
}

// Images (N, C, H, W). Packed, the columns 0, stride, 2 stride, ... of a row come first,
// then 1, 1 + stride, ...: the outputs of a row read neighbours.
struct Images {
    int64_t N, C, H, W, stride = 1;

    int64_t position_of(int64_t h, int64_t w) const {
        const int64_t phase = w % stride;
        return h * W + phase * (W / stride) + std::min(phase, W % stride) + w / stride;
    }

    // The number of panels of `width` channels; the floats of a panel (H W, N, width).
    int64_t panels(int64_t width) const { return (C + width - 1) / width; }
    int64_t panel(int64_t width) const { return H * W * N * width; }
};

// Copies images to panels (kPack), or back. T is const where it is only read.
template <bool kPack, typename T, typename U>
void copy_images(T* packed, U* images, const Images& e, int64_t width) {
    const int64_t size = e.H * e.W;
    std::vector<int64_t> rows;
    for (int64_t m = 0; m < size; ++m)
        rows.push_back(e.position_of(m / e.W, m % e.W) * e.N * width);
    parallel_for(e.panels(width) * e.N, 1, [&](int64_t at, int64_t) {
        const int64_t n = at % e.N, first = at / e.N * width;
        T* const panel = packed + first * e.panel(1) + n * width;
        U* const image = images + (n * e.C + first) * size;
        const auto row = [&](int64_t m) { return panel + rows[m]; };
        const auto plane = [&](int64_t c) { return image + c * size; };
        if constexpr (kPack)
            transpose(row, plane, std::min(width, e.C - first), size);
        else
            transpose(plane, row, size, std::min(width, e.C - first));
    });
}

// Returns images in panels of `width` channels. Floats after the last channel are not
// set: no sum that is copied to a result contains them.
std::unique_ptr<float[]> pack(const float* from, const Images& images, int64_t width) {
    auto packed = scratch(images.panels(width) * images.panel(width));
    copy_images<true>(packed.get(), from, images, width);
    return packed;
}

struct Convolution {
    Images x, y;
    Window window;

    Convolution(const ImageExtents& in, int64_t O, const Window& window)
        : x{in.N, in.C, in.H, in.W, window.stride},
          y{in.N, O, window.output(in.H), window.output(in.W)},
          window(window) {}

    int64_t taps() const { return window.kernel * window.kernel; }
    Images weights() const { return {y.C, x.C, window.kernel, window.kernel}; }

    // Calls visit(tap, y_at, x_at, rows) for each row of y and each tap of the window:
    // `rows` rows of y, from position y_at on, belong to as many of x, from x_at on.
    template <typename Visit>
    void for_each_product(const Visit& visit) const {
        const auto [kernel, stride, padding] = window;
        const auto outputs_before = [&, stride = stride](int64_t w) {
            return std::clamp<int64_t>((w + stride - 1) / stride, 0, y.W);
        };
        for (int64_t at = 0; at < y.H * kernel * kernel; ++at) {
            const int64_t i = at / taps(), tap = at % taps();
            const int64_t h = i * stride + tap / kernel - padding;
            const int64_t left = tap % kernel - padding;  // the column of x for j = 0
            const int64_t begin = outputs_before(-left), end = outputs_before(x.W - left);
            if (h >= 0 && h < x.H && begin < end)
                visit(tap, i * y.W + begin, x.position_of(h, begin * stride + left),
                      (end - begin) * x.N);
        }
    }
};

// Sets y to the convolution of x, or dx to that of g with the transposed window.
template <bool kForward>
void convolve(float* out, const float* in, const float* w, const float* bias,
              ImageExtents images, int64_t O, Window window) {
    const Convolution e(images, O, window);
    const Images &to = kForward ? e.y : e.x, &from = kForward ? e.x : e.y;
    const int64_t N = to.N, panel = to.panel(kColumns);
    const int64_t row = from.C + kWideLanes;  // at 4 KiB, rows share lines of a cache
    const auto sources = pack(in, from, row);
    // Panels (k, k, C, kColumns) of output channels, or (k, k, O, kColumns) of inputs.
    const Images by_output{1, to.C, 1, from.C * e.taps(), e.taps()};
    const auto weights = pack(w, kForward ? by_output : e.weights(), kColumns);
    const auto results = scratch(to.panels(kColumns) * panel);
    parallel_for(to.panels(kColumns), 1, [&](int64_t k, int64_t) {
        float* const result = results.get() + k * panel;
        std::fill_n(result, panel, 0.0f);
        for (int64_t at = 0; bias && at < panel; at += kColumns)
            std::copy_n(bias + k * kColumns, std::min(kColumns, to.C - k * kColumns),
                        result + at);
        e.for_each_product([&](int64_t tap, int64_t y_at, int64_t x_at, int64_t rows) {
            add_product(result + (kForward ? y_at : x_at) * N * kColumns,
                        sources.get() + (kForward ? x_at : y_at) * N * row,
                        weights.get() + (k * e.taps() + tap) * from.C * kColumns, rows,
                        from.C, {row, 1});
        });
    });
    copy_images<false>(results.get(), out, to, kColumns);
}

void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window) {
    convolve<false>(dx, g, w, nullptr, in, O, window);
}

void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window) {
    const Convolution e(in, O, window);
    const int64_t N = in.N, panel = e.weights().panel(kColumns);
    const auto images = pack(x, e.x, kColumns), grads = pack(g, e.y, kWideLanes);
    const auto sums = scratch(e.x.panels(kColumns) * panel);
    parallel_for(e.x.panels(kColumns), 1, [&](int64_t k, int64_t) {
        float* const result = sums.get() + k * panel;
        std::fill_n(result, panel, 0.0f);
        e.for_each_product([&](int64_t tap, int64_t y_at, int64_t x_at, int64_t rows) {
            for (int64_t o = 0; o < O; o += kWideLanes)
                add_product(result + (tap * O + o) * kColumns,
                            grads.get() + o * e.y.panel(1) + y_at * N * kWideLanes,
                            images.get() + k * e.x.panel(kColumns) + x_at * N * kColumns,
                            std::min(kWideLanes, O - o), rows, {1, kWideLanes});
        });
    });
    copy_images<false>(sums.get(), dw, e.weights(), kColumns);
}

}  // namespace

const ConvKernels* many_channels(const ImageExtents& in, const Window& window) {
    static constexpr ConvKernels kAll{convolve<true>, backward_input, backward_weight};
    return in.C >= 32 && (window.kernel > 1 || in.H * in.W <= 64) ? &kAll : nullptr;
}

}  // namespace mini::kernels::cpu
