// What the direct convolutions share: their extents.

#pragma once

#include <cstdint>

#include "libmini/extras/fast/border.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::direct {

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
          bordered{in.C, in.H, in.W, window.padding} {}

    int64_t x_size() const { return bordered.outer_size(); }  // of an image
    int64_t y_size() const { return O * Ho * Wo; }
};

}  // namespace mini::kernels::cpu::direct
