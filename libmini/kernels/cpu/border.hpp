// Images with a border of zeros, for convolutions with padding.

#pragma once

#include <algorithm>
#include <cstdint>

namespace mini::kernels::cpu {

/// The extents of an image (C, H, W), and the width of the border around each channel.
struct Bordered {
    int64_t C, H, W;
    int64_t border;

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

}  // namespace mini::kernels::cpu
