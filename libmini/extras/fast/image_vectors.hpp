// Images in the order in which the direct convolutions load them.
//
// The direct convolutions compute 8 neighbours of a row at a time. If a register has 16
// lanes (AVX-512), the lanes alternate between two images:
//
//     WideVector   [ x0 of image n | x0 of n + 1 | x1 of n | x1 of n + 1 | ... x7 of n + 1 ]
//
// So a tile has the same rows and columns with every processor. If the number of images is
// odd, the last one is computed in vectors of 8 lanes. The images are copied once, into
// memory in which the elements of a pair alternate: a vector at any column is then one
// load. To merge two images in each load takes one of the two units that multiply on
// Intel's processors, and a step of the ConvNet takes 1.09 times as long.

#pragma once

#include <algorithm>
#include <cstdint>

#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::direct {

/// The number of images in a vector V.
template <typename V>
constexpr int64_t kImagesOf = sizeof(V) / sizeof(Vector);

/// The extents of images (C, H, W), the width of the border of zeros around each channel,
/// and the distance of two images in memory, which is more if they have more channels.
struct Bordered {
    int64_t C, H, W;
    int64_t border;
    int64_t step;

    int64_t outer_H() const { return H + 2 * border; }
    int64_t outer_W() const { return W + 2 * border; }
    int64_t outer_size() const { return C * outer_H() * outer_W(); }

    /// Calls visit(inner, outer, length) for each row: its offset in the image, and in the
    /// image with its border. Without a border, all rows are one.
    template <typename Visit>
    void for_each_row(const Visit& visit) const {
        if (border == 0) return visit(int64_t{0}, int64_t{0}, C * H * W);
        for (int64_t row = 0; row < C * H; ++row)
            visit(row * W, (row / H * outer_H() + row % H + border) * outer_W() + border,
                  W);
    }
};

/// Sets packed (C, H + 2 border, W + 2 border, images) to the images of V at x, with their
/// border.
template <typename V>
void pack_images(float* packed, const float* x, const Bordered& extents) {
    constexpr int64_t K = kImagesOf<V>;
    if (extents.border > 0) std::fill_n(packed, K * extents.outer_size(), 0.0f);
    extents.for_each_row([&](int64_t inner, int64_t outer, int64_t length) {
        float* __restrict to = packed + outer * K;
        const float* from = x + inner;
        for (int64_t i = 0; i < length; ++i)
            for (int64_t n = 0; n < K; ++n) to[i * K + n] = from[n * extents.step + i];
    });
}

/// Sets the images of V at x to the middle of packed: the reverse of pack_images.
template <typename V>
void unpack_images(float* x, const float* packed, const Bordered& extents) {
    constexpr int64_t K = kImagesOf<V>;
    extents.for_each_row([&](int64_t inner, int64_t outer, int64_t length) {
        for (int64_t n = 0; n < K; ++n) {
            float* __restrict to = x + n * extents.step + inner;
            const float* from = packed + outer * K + n;
            for (int64_t i = 0; i < length; ++i) to[i] = from[i * K];
        }
    });
}

/// Stores 8 elements of each image of V; the images are `step` floats apart.
template <typename V>
void store_images(float* to, [[maybe_unused]] int64_t step, V v) {
    if constexpr (kImagesOf<V> == 1) {
        store(to, v);
    } else {
        store(to, __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14));
        store(to + step, __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15));
    }
}

/// Calls visit(n, V{}) for the images begin to end - 1. With AVX-512, V is WideVector for
/// each pair n and n + 1, and Vector for a single last image; otherwise V is Vector.
template <typename Visit>
void for_each_vector_of_images(int64_t begin, int64_t end, const Visit& visit) {
    int64_t n = begin;
    for (; n + kImagesOf<WideVector> <= end; n += kImagesOf<WideVector>)
        visit(n, WideVector{});
    for (; n < end; ++n) visit(n, Vector{});
}

/// Packs `count` images, one vector of images after the other: image n begins at n *
/// outer_size(), the second image of a pair one float after the first.
inline void pack_all(float* packed, const float* x, int64_t count,
                     const Bordered& extents) {
    for_each_vector_of_images(0, count, [&]<typename V>(int64_t n, V) {
        pack_images<V>(packed + n * extents.outer_size(), x + n * extents.step, extents);
    });
}

/// The most images of a chunk, which a thread processes together.
constexpr int64_t kImagesPerChunk = 16;

/// The extents of a convolution whose images have their border.
struct Extents {
    int64_t N, C, H, W;  // the input with its border
    int64_t O, Ho, Wo;   // the output
    Bordered bordered;

    Extents(const ImageExtents& in, int64_t O, const Window& window)
        : N(in.N),
          C(in.C),
          H(in.H + 2 * window.padding),
          W(in.W + 2 * window.padding),
          O(O),
          Ho(window.output(in.H)),
          Wo(window.output(in.W)),
          bordered{in.C, in.H, in.W, window.padding, in.C * in.H * in.W} {}

    int64_t x_size() const { return bordered.outer_size(); }  // of an image
    int64_t y_size() const { return O * Ho * Wo; }
    Bordered output(int64_t channels) const { return {channels, Ho, Wo, 0, y_size()}; }
};

}  // namespace mini::kernels::cpu::direct
