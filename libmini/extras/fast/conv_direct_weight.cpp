// The gradient of the weights of a direct convolution: see conv_direct.cpp.

#include <algorithm>
#include <cstdint>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/conv_direct.hpp"
#include "libmini/extras/fast/conv_extents.hpp"
#include "libmini/extras/fast/image_vectors.hpp"
#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/scratch.hpp"

namespace mini::kernels::cpu::direct {
namespace {

// The output channels of a tile of dw: with 10 or 9 sums, or 25 and 21.
template <int k>
constexpr int kGradientChannels = kHas32Registers ? (k == 5 ? 5 : 7) : (k == 5 ? 2 : 3);

// Adds the products of the images of V to sums: the lanes of sums[m][q] add up to dw of
// output channel m and column q of the window, of one input channel and one row of the
// window. Row i of g is multiplied with row i of x.
template <int k, int M, typename V>
void backward_weight_tile(V (&sums)[M][k], const float* g, const float* x,
                          const Extents& e) {
    const int64_t whole = e.Wo / kLanes * kLanes;
    const auto last = mask_from<V>(whole, e.Wo - kLanes);
    const auto add = [&](const float* grads, const float* row, bool is_last) {
        V grad[M];
#pragma GCC unroll 7
        for (int m = 0; m < M; ++m) {
            grad[m] = load_images<V>(grads + m * e.Ho * e.Wo, e.y_size());
            if (is_last) grad[m] = masked(grad[m], last);
        }
#pragma GCC unroll 5
        for (int q = 0; q < k; ++q) {
            const V input = load_images<V>(row + q, e.x_size());
#pragma GCC unroll 7
            for (int m = 0; m < M; ++m) sums[m][q] += grad[m] * input;
        }
    };
    for (int64_t i = 0; i < e.Ho; ++i, g += e.Wo, x += e.W) {
        for (int64_t j = 0; j < whole; j += kLanes) add(g + j, x + j, false);
        if (whole < e.Wo) add(g + e.Wo - kLanes, x + e.Wo - kLanes, true);
    }
}

// Adds the products of `count` images, in vectors V, to lanes (M, k, lanes) of M output
// channels, `channel` floats apart, one input channel and one row of the window.
template <int k, int M, typename V>
void backward_weight_row(float* lanes, int64_t channel, const float* g, const float* x,
                         int64_t count, const Extents& e) {
    V sums[M][k];
    for (int m = 0; m < M; ++m)
        for (int q = 0; q < k; ++q)
            sums[m][q] = load<V>(lanes + m * channel + q * kWideLanes);
    for (int64_t n = 0; n < count; n += kImagesOf<V>)
        backward_weight_tile<k, M, V>(sums, g + n * e.y_size(), x + n * e.x_size(), e);
    for (int m = 0; m < M; ++m)
        for (int q = 0; q < k; ++q)
            store(lanes + m * channel + q * kWideLanes, sums[m][q]);
}

// Adds the products of `count` images to lanes (M, C, k, k, lanes), for M channels of g.
template <int k, int M>
void backward_weight_images(float* lanes, const float* g, const float* x, int64_t count,
                            const Extents& e) {
    const int64_t channel = e.C * k * k * kWideLanes;
    const int64_t paired = count / kImagesOf<WideVector> * kImagesOf<WideVector>;
    for (int64_t c = 0; c < e.C; ++c)
        for (int p = 0; p < k; ++p, lanes += k * kWideLanes) {
            const float* const row = x + (c * e.H + p) * e.W;
            backward_weight_row<k, M, WideVector>(lanes, channel, g, row, paired, e);
            if (paired < count)
                backward_weight_row<k, M, Vector>(lanes, channel, g + paired * e.y_size(),
                                                  row + paired * e.x_size(),
                                                  count - paired, e);
        }
}

// Computes dw for the output channels begin to end - 1. All channels use the images of a
// chunk before the next chunk, so that the images stay in the cache.
template <int k>
void backward_weight_channels(float* dw, const float* g, const float* x, int64_t begin,
                              int64_t end, const Extents& e) {
    constexpr int M = kGradientChannels<k>;
    const int64_t weights = e.C * k * k, map = e.Ho * e.Wo;
    const auto lanes = scratch((end - begin) * weights * kWideLanes);
    std::fill_n(lanes.get(), (end - begin) * weights * kWideLanes, 0.0f);
    BorderedImages images(x, kImagesPerChunk, e.bordered);
    for (int64_t n = 0; n < e.N; n += kImagesPerChunk) {
        const int64_t count = std::min(kImagesPerChunk, e.N - n);
        const float* chunk = images.range(n, n + count);
        for (int64_t o = begin; o < end;) {
            float* to = lanes.get() + (o - begin) * weights * kWideLanes;
            const float* from = g + (n * e.O + o) * map;
            const bool is_whole = o + M <= end;
            (is_whole ? backward_weight_images<k, M>
                      : backward_weight_images<k, 1>)(to, from, chunk, count, e);
            o += is_whole ? M : 1;
        }
    }
    for (int64_t i = 0; i < (end - begin) * weights; ++i)
        dw[begin * weights + i] = sum_of(load<WideVector>(lanes.get() + i * kWideLanes));
}

// Divides the output channels among the threads, in whole tiles.
template <int k>
void backward_weight_of(float* dw, const float* g, const float* x, const Extents& e) {
    constexpr int M = kGradientChannels<k>;
    const int64_t tiles = (e.O + M - 1) / M;
    const int64_t grain = M * ((tiles + num_threads() - 1) / num_threads());
    parallel_for(e.O, grain, [&](int64_t begin, int64_t end) {
        backward_weight_channels<k>(dw, g, x, begin, end, e);
    });
}

}  // namespace

void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window) {
    const Extents extents(in, O, window);
    (window.kernel == 5 ? backward_weight_of<5> : backward_weight_of<3>)(dw, g, x,
                                                                         extents);
}

}  // namespace mini::kernels::cpu::direct
