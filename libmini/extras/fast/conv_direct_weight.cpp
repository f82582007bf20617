// The gradient of the weights of a direct convolution: see conv_direct.cpp.

#include <algorithm>
#include <cstdint>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/conv_direct.hpp"
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
    constexpr int64_t K = kImagesOf<V>;
    const int64_t whole = e.Wo / kLanes * kLanes;
    const auto last = mask_from<V>(whole, e.Wo - kLanes);
    const auto add = [&](int64_t column, bool is_last) {
        V grad[M];
#pragma GCC unroll 7
        for (int m = 0; m < M; ++m) {
            grad[m] = load<V>(g + (m * e.Ho * e.Wo + column) * K);
            if (is_last) grad[m] = masked(grad[m], last);
        }
#pragma GCC unroll 5
        for (int q = 0; q < k; ++q) {
            const V input = load<V>(x + (column + q) * K);
#pragma GCC unroll 7
            for (int m = 0; m < M; ++m) sums[m][q] += grad[m] * input;
        }
    };
    for (int64_t i = 0; i < e.Ho; ++i, g += e.Wo * K, x += e.W * K) {
        for (int64_t j = 0; j < whole; j += kLanes) add(j, false);
        if (whole < e.Wo) add(e.Wo - kLanes, true);
    }
}

// Adds the products of the images begin to end - 1, in vectors V, to lanes (M, C, k, k,
// lanes), for the M channels of g.
template <int k, int M, typename V>
void backward_weight_images(float* lanes, const float* g, const float* x, int64_t begin,
                            int64_t end, const Extents& e) {
    const int64_t channel = e.C * k * k * kWideLanes;
    for (int64_t c = 0; c < e.C; ++c)
        for (int p = 0; p < k; ++p, lanes += k * kWideLanes) {
            const float* const row = x + (c * e.H + p) * e.W * kImagesOf<V>;
            V sums[M][k];
            for (int m = 0; m < M; ++m)
                for (int q = 0; q < k; ++q)
                    sums[m][q] = load<V>(lanes + m * channel + q * kWideLanes);
            for (int64_t n = begin; n < end; n += kImagesOf<V>)
                backward_weight_tile<k, M, V>(sums, g + n * M * e.Ho * e.Wo,
                                              row + n * e.x_size(), e);
            for (int m = 0; m < M; ++m)
                for (int q = 0; q < k; ++q)
                    store(lanes + m * channel + q * kWideLanes, sums[m][q]);
        }
}

// Adds the products of M channels of `count` images of g, which are packed into `grads`.
template <int k, int M>
void backward_weight_channels(float* lanes, const float* g, float* grads, const float* x,
                              int64_t count, const Extents& e) {
    const int64_t paired = count / kImagesOf<WideVector> * kImagesOf<WideVector>;
    pack_all(grads, g, count, e.output(M));
    backward_weight_images<k, M, WideVector>(lanes, grads, x, 0, paired, e);
    if (paired < count)
        backward_weight_images<k, M, Vector>(lanes, grads, x, paired, count, e);
}

// Returns the first address from p on where a line of the cache begins, of 64 bytes. A
// vector that is in two lines is read in two accesses.
float* aligned(float* p) {
    const auto address = reinterpret_cast<uintptr_t>(p);
    return reinterpret_cast<float*>((address + 63) / 64 * 64);
}

// Returns the images of a chunk: their M channels of g fill half of a cache of 48 KiB.
int64_t images_per_chunk(int64_t M, const Extents& e) {
    constexpr int64_t K = kImagesOf<WideVector>;
    return std::clamp<int64_t>(6144 / (M * e.Ho * e.Wo) / K * K, K, kImagesPerChunk);
}

// Computes dw for the output channels begin to end - 1. All channels use the images of a
// chunk before the next chunk, so that the images stay in the cache.
template <int k>
void backward_weight_chunks(float* dw, const float* g, const float* x, int64_t begin,
                            int64_t end, const Extents& e) {
    constexpr int M = kGradientChannels<k>;
    const int64_t weights = e.C * k * k, map = e.Ho * e.Wo;
    const int64_t most = images_per_chunk(M, e);
    const auto lanes = scratch((end - begin) * weights * kWideLanes);
    std::fill_n(lanes.get(), (end - begin) * weights * kWideLanes, 0.0f);
    const auto memory = scratch(most * (M * map + e.x_size()) + 16);
    float* const grads = aligned(memory.get());
    float* const images = grads + most * M * map;
    for (int64_t n = 0; n < e.N; n += most) {
        const int64_t count = std::min(most, e.N - n);
        pack_all(images, x + n * e.bordered.step, count, e.bordered);
        for (int64_t o = begin; o < end;) {
            float* const to = lanes.get() + (o - begin) * weights * kWideLanes;
            const float* const from = g + (n * e.O + o) * map;
            const bool is_whole = o + M <= end;
            (is_whole
                 ? backward_weight_channels<k, M>
                 : backward_weight_channels<k, 1>)(to, from, grads, images, count, e);
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
        backward_weight_chunks<k>(dw, g, x, begin, end, e);
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
