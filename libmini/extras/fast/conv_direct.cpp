// Convolution at stride 1, with sums in registers.
//
//                       sums in registers                  a step of the inner loop reads
//     forward           T channels x 2 rows of 8 of y      2 vectors of x, T weights
//     gradient of x     R rows of 8 of g, for k rows p     R vectors of g, k weights
//     gradient of w     M channels x k columns q of dw     M vectors of g, k of x
//
// A window has k rows p and k columns q. T, R and M are the channels or rows of a tile:
// kTileChannels, kTileRows, and M of conv_direct_weight.cpp.
//
// A step multiplies everything that it reads with everything: about 10 multiply-adds for 7
// reads. A processor core of 2020 starts two multiply-adds per cycle, and each takes 4 or
// 5 cycles, so 10 independent sums keep the core busy. With AVX-512 there are up to 25
// sums, of two images each (image_vectors.hpp). im2col writes and packs each input k * k
// times before the first product; with few channels this takes longer than the products.
//
// A row that is not a multiple of 8 ends with a vector that overlaps the one before it.
// Forward computes the common elements twice; the gradients set the common elements of
// the second vector to 0, so that nothing is added twice.

#include "libmini/extras/fast/conv_direct.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/image_vectors.hpp"
#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/scratch.hpp"

namespace mini::kernels::cpu::direct {
namespace {

// Output channels of a tile of y, in two rows: 10 sums, or 20, or 16.
template <int k>
constexpr int kTileChannels = !kHas32Registers ? 5
                              : k == 5         ? 10
                                               : 8;

// The first index of a tile of `size` that begins at `at`, moved back if the tile would
// end after `extent`.
int64_t moved_into(int64_t at, int64_t size, int64_t extent) {
    return std::min(at, extent - size);
}

// Returns the images of a chunk: N divided evenly among the threads, but at most
// kImagesPerChunk. An image's result does not depend on its chunk.
int64_t images_per_chunk(int64_t N) {
    const int64_t share = (N + num_threads() - 1) / num_threads();
    return std::clamp<int64_t>(share, 1, kImagesPerChunk);
}

// ---- forward

// Returns w (O, C, k, k) as tiles (O / T, C, k, k, T) of T channels: in the order in which
// a tile reads it. Channels after the last are 0.
template <int k>
std::unique_ptr<float[]> pack_forward(const float* w, const Extents& e) {
    constexpr int T = kTileChannels<k>;
    const int64_t tiles = (e.O + T - 1) / T, taps = e.C * k * k;
    auto packed = scratch(tiles * taps * T);
    float* to = packed.get();
    for (int64_t tile = 0; tile < tiles; ++tile)
        for (int64_t tap = 0; tap < taps; ++tap)
            for (int64_t o = tile * T; o < (tile + 1) * T; ++o)
                *to++ = o < e.O ? w[o * taps + tap] : 0.0f;
    return packed;
}

// Computes T channels, of which `channels` exist, of 2 rows of 8 of y, of each image of V.
template <int k, typename V>
void forward_tile(float* y, const float* x, const float* w, const float* bias,
                  int64_t channels, const Extents& e) {
    constexpr int T = kTileChannels<k>;
    constexpr int64_t K = kImagesOf<V>;
    V sums[2][T];
    for (int o = 0; o < T; ++o)
        sums[0][o] = sums[1][o] = broadcast<V>(bias && o < channels ? bias[o] : 0.0f);
    for (int64_t c = 0; c < e.C; ++c)
        for (int p = 0; p < k; ++p) {
            const float* row = x + (c * e.H + p) * e.W * K;
#pragma GCC unroll 5
            for (int q = 0; q < k; ++q, w += T) {
                const V upper = load<V>(row + q * K);
                const V lower = load<V>(row + (e.W + q) * K);
#pragma GCC unroll 10
                for (int o = 0; o < T; ++o) {
                    const V weight = broadcast<V>(w[o]);
                    sums[0][o] += weight * upper;
                    sums[1][o] += weight * lower;
                }
            }
        }
    for (int64_t o = 0; o < channels; ++o) {
        store_images(y + o * e.Ho * e.Wo, e.y_size(), sums[0][o]);
        store_images(y + o * e.Ho * e.Wo + e.Wo, e.y_size(), sums[1][o]);
    }
}

// Computes y of each image of V. A tile's weights are used for a whole row of tiles, and
// the rows of x for all channels, before others take their place in the cache.
template <int k, typename V>
void forward_images(float* y, const float* x, const float* w, const float* bias,
                    const Extents& e) {
    constexpr int T = kTileChannels<k>;
    for (int64_t row = 0; row < e.Ho; row += 2) {
        const int64_t i = moved_into(row, 2, e.Ho);
        const float* weights = w;
        for (int64_t o = 0; o < e.O; o += T, weights += e.C * k * k * T)
            for (int64_t column = 0; column < e.Wo; column += kLanes) {
                const int64_t j = moved_into(column, kLanes, e.Wo);
                forward_tile<k, V>(
                    y + (o * e.Ho + i) * e.Wo + j, x + (i * e.W + j) * kImagesOf<V>,
                    weights, bias ? bias + o : nullptr, std::min<int64_t>(T, e.O - o), e);
            }
    }
}

template <int k>
void forward(float* y, const float* x, const float* w, const float* bias,
             const Extents& e) {
    const auto packed = pack_forward<k>(w, e);
    parallel_for(e.N, images_per_chunk(e.N), [&](int64_t begin, int64_t end) {
        const auto images = scratch(kImagesOf<WideVector> * e.x_size());
        for_each_vector_of_images(begin, end, [&]<typename V>(int64_t n, V) {
            pack_images<V>(images.get(), x + n * e.bordered.step, e.bordered);
            forward_images<k, V>(y + n * e.y_size(), images.get(), packed.get(), bias, e);
        });
    });
}

// ---- gradient of the input

// The rows of g that a tile reads: with 9 or 10 sums, or 20.
template <int k>
constexpr int kTileRows = k == 3            ? 3
                          : kHas32Registers ? 4
                                            : 2;

// Returns w (O, C, k, k) as (C, q, O, p): in the order in which a tile reads it.
template <int k>
std::unique_ptr<float[]> pack_backward(const float* w, const Extents& e) {
    auto packed = scratch(e.C * k * e.O * k);
    float* to = packed.get();
    for (int64_t c = 0; c < e.C; ++c)
        for (int q = 0; q < k; ++q)
            for (int64_t o = 0; o < e.O; ++o)
                for (int p = 0; p < k; ++p) *to++ = w[((o * e.C + c) * k + p) * k + q];
    return packed;
}

// Adds the products of R rows of 8 of g, all channels, with column q of the window to
// R + k - 1 rows of dx, of each image of V. If kMasked, leaves out the first `row` rows of
// g and the lanes that `columns` leaves out.
template <int k, bool kMasked, typename V>
void backward_input_tile(float* dx, const float* g, const float* w, int64_t row,
                         BitsOf<V> columns, const Extents& e) {
    constexpr int R = kTileRows<k>;
    constexpr int64_t K = kImagesOf<V>;
    V sums[R][k] = {};
    for (int64_t o = 0; o < e.O; ++o, w += k, g += e.Ho * e.Wo * K) {
        V grad[R];
#pragma GCC unroll 5
        for (int r = 0; r < R; ++r) {
            grad[r] = load<V>(g + r * e.Wo * K);
            if (kMasked) grad[r] = r < row ? V{} : masked(grad[r], columns);
        }
#pragma GCC unroll 5
        for (int p = 0; p < k; ++p) {
            const V weight = broadcast<V>(w[p]);
#pragma GCC unroll 5
            for (int r = 0; r < R; ++r) sums[r][p] += weight * grad[r];
        }
    }
#pragma GCC unroll 8
    for (int h = 0; h < R + k - 1; ++h) {
        V total = load<V>(dx + h * e.W * K);
#pragma GCC unroll 5
        for (int r = 0; r < R; ++r)
            if (h - r >= 0 && h - r < k) total += sums[r][h - r];
        store(dx + h * e.W * K, total);
    }
}

// Sets dx of each image of V, with its border.
template <int k, typename V>
void backward_input_images(float* dx, const float* g, const float* packed,
                           const Extents& e) {
    constexpr int R = kTileRows<k>;
    constexpr int64_t K = kImagesOf<V>;
    std::fill_n(dx, K * e.x_size(), 0.0f);
    for (int64_t c = 0; c < e.C; ++c)
        for (int q = 0; q < k; ++q, packed += e.O * k)
            for (int64_t row = 0; row < e.Ho; row += R)
                for (int64_t column = 0; column < e.Wo; column += kLanes) {
                    const int64_t i = moved_into(row, R, e.Ho);
                    const int64_t j = moved_into(column, kLanes, e.Wo);
                    float* to = dx + ((c * e.H + i) * e.W + j + q) * K;
                    const float* from = g + (i * e.Wo + j) * K;
                    if (i == row && j == column)
                        backward_input_tile<k, false, V>(to, from, packed, 0, BitsOf<V>{},
                                                         e);
                    else
                        backward_input_tile<k, true, V>(to, from, packed, row - i,
                                                        mask_from<V>(column, j), e);
                }
}

template <int k>
void backward_input_k(float* dx, const float* g, const float* w, const Extents& e) {
    const auto packed = pack_backward<k>(w, e);
    parallel_for(e.N, images_per_chunk(e.N), [&](int64_t begin, int64_t end) {
        const auto gradient = scratch(kImagesOf<WideVector> * e.x_size());
        const auto grads = scratch(kImagesOf<WideVector> * e.y_size());
        for_each_vector_of_images(begin, end, [&]<typename V>(int64_t n, V) {
            pack_images<V>(grads.get(), g + n * e.y_size(), e.output(e.O));
            backward_input_images<k, V>(gradient.get(), grads.get(), packed.get(), e);
            unpack_images<V>(dx + n * e.bordered.step, gradient.get(), e.bordered);
        });
    });
}

}  // namespace

bool fits(const ImageExtents& in, const Window& window) {
    const bool has_kernel = window.kernel == 3 || window.kernel == 5;
    return has_kernel && window.stride == 1 && window.output(in.W) >= kLanes &&
           window.output(in.H) >= 4;  // a tile has at most 4 rows
}

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const Extents extents(in, O, window);
    (window.kernel == 5 ? forward<5> : forward<3>)(y, x, w, bias, extents);
}

void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window) {
    const Extents extents(in, O, window);
    (window.kernel == 5 ? backward_input_k<5> : backward_input_k<3>)(dx, g, w, extents);
}

}  // namespace mini::kernels::cpu::direct
