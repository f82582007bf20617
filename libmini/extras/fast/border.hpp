// Images with a border of zeros, for convolutions with padding.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "libmini/kernels/cpu/scratch.hpp"

namespace mini::kernels::cpu {

/// The extents of an image (C, H, W), and the width of the border around each channel.
struct Bordered {
    int64_t C, H, W;
    int64_t border;

    int64_t inner_size() const { return C * H * W; }
    int64_t outer_H() const { return H + 2 * border; }
    int64_t outer_W() const { return W + 2 * border; }
    int64_t outer_size() const { return C * outer_H() * outer_W(); }

    /// Returns the offset of row h of channel c of the image in the bordered image.
    int64_t row(int64_t c, int64_t h) const {
        return (c * outer_H() + h + border) * outer_W() + border;
    }
};

/// Sets bordered (C, H + 2 border, W + 2 border) to x (C, H, W) in the middle of zeros.
inline void add_border(float* bordered, const float* x, const Bordered& extents) {
    std::fill_n(bordered, extents.outer_size(), 0.0f);
    for (int64_t c = 0; c < extents.C; ++c)
        for (int64_t h = 0; h < extents.H; ++h, x += extents.W)
            std::copy_n(x, extents.W, bordered + extents.row(c, h));
}

/// Sets x (C, H, W) to the middle of bordered: the reverse of add_border.
inline void remove_border(float* x, const float* bordered, const Bordered& extents) {
    for (int64_t c = 0; c < extents.C; ++c)
        for (int64_t h = 0; h < extents.H; ++h, x += extents.W)
            std::copy_n(bordered + extents.row(c, h), extents.W, x);
}

/// Some images of a batch, with their border.
class BorderedImages {
  public:
    /// Has room for `count` images.
    BorderedImages(const float* x, int64_t count, const Bordered& extents)
        : x_(x), extents_(extents) {
        if (extents.border > 0) copies_ = scratch(count * extents.outer_size());
    }

    /// Returns the images begin to end - 1; valid until the next call.
    const float* range(int64_t begin, int64_t end) {
        const float* image = x_ + begin * extents_.inner_size();
        if (!copies_) return image;
        float* copy = copies_.get();
        for (int64_t n = begin; n < end; ++n) {
            add_border(copy, image, extents_);
            copy += extents_.outer_size();
            image += extents_.inner_size();
        }
        return copies_.get();
    }

  private:
    const float* x_;
    Bordered extents_;
    std::unique_ptr<float[]> copies_;  // null without a border
};

/// The memory in which the gradients of some images with their borders are computed.
class BorderedGradient {
  public:
    /// Has room for `count` images.
    explicit BorderedGradient(const Bordered& extents, int64_t count = 1)
        : extents_(extents) {
        if (extents.border > 0) copies_ = scratch(count * extents.outer_size());
    }

    /// Returns the memory for the gradient dx of the images: dx itself if there is no
    /// border.
    float* memory_for(float* dx) { return copies_ ? copies_.get() : dx; }

    /// Sets dx, `count` images, to the middle of memory_for(dx).
    void finish(float* dx, int64_t count = 1) const {
        if (!copies_) return;
        for (int64_t n = 0; n < count; ++n)
            remove_border(dx + n * extents_.inner_size(),
                          copies_.get() + n * extents_.outer_size(), extents_);
    }

  private:
    Bordered extents_;
    std::unique_ptr<float[]> copies_;  // null without a border
};

}  // namespace mini::kernels::cpu
