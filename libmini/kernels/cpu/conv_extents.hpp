// What the direct convolutions share: their extents, and their images with the border.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/kernels/cpu/border.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::direct {

/// Images that a thread processes together.
constexpr int64_t kImagesPerChunk = 8;

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

    int64_t inner_size() const { return C * bordered.H * bordered.W; }
};

/// Some images of a batch, with their border.
class Images {
  public:
    /// Has room for `count` images.
    Images(const float* x, int64_t count, const Extents& extents)
        : x_(x), extents_(extents) {
        if (extents.bordered.border > 0)
            copies_ = scratch(count * extents.bordered.outer_size());
    }

    /// Returns the images begin to end - 1; valid until the next call.
    const float* range(int64_t begin, int64_t end) {
        const float* image = x_ + begin * extents_.inner_size();
        if (!copies_) return image;
        float* copy = copies_.get();
        for (int64_t n = begin; n < end; ++n) {
            add_border(copy, image, extents_.bordered);
            copy += extents_.bordered.outer_size();
            image += extents_.inner_size();
        }
        return copies_.get();
    }

  private:
    const float* x_;
    const Extents& extents_;
    std::unique_ptr<float[]> copies_;
};

}  // namespace mini::kernels::cpu::direct
