// The elements of images that a convolution multiplies, gathered into panels or lines.
//
// A position (n, i, j) is an element of the output's planes, of all images; a tap is an
// element of the window. Under a tap, position (n, i, j) reads
//
//     x[n, channel, i * stride + row tap, j * stride + column tap]      0 outside of x
//
// A gatherer works on a range of positions. It copies the rows of one channel that the
// range reads, with a border of zeros, into a slab, a small buffer in the cache:
//
//     slab   0 0 0 0 0 0        positions    a b c d e f g h
//            0 a b c d 0        tap (0, 0)   0 0 0 0 0 a b c
//            0 e f g h 0        tap (0, 1)   0 0 0 0 a b c d

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {

/// Returns a / b, rounded up. REQUIRES: b > 0.
constexpr int64_t divide_up(int64_t a, int64_t b) {
    return a > 0 ? (a + b - 1) / b : a / b;
}

/// One tap of an axis.
struct AxisTap {
    int64_t input;   // output i reads input i * stride + this
    int64_t weight;  // the index of the tap's weight in the kernel
};

/// One axis of a gather.
struct GatherAxis {
    int64_t inputs, outputs, stride;
    std::vector<AxisTap> taps;  // in ascending order of input

    /// The number of inputs from the first to the last tap.
    int64_t span() const { return taps.back().input - taps.front().input + 1; }

    /// Removes the taps under which every output reads padding, but never the last tap.
    void remove_padding_taps();
};

/// Returns the axis on which the output of a convolution reads `extent` inputs.
GatherAxis forward_axis(int64_t extent, const Window& window);

/// Returns the axis on which the inputs phase, phase + stride, ... of a convolution of
/// `extent` inputs read the gradient of the output. The axis has no tap if these inputs
/// are in no window.
GatherAxis backward_axis(int64_t extent, const Window& window, int64_t phase);

/// What a gather reads, from images (images, channels, rows.inputs, columns.inputs).
struct Gather {
    int64_t images, channels;
    GatherAxis rows, columns;

    int64_t positions() const { return images * rows.outputs * columns.outputs; }
    int64_t taps() const {
        return static_cast<int64_t>(rows.taps.size() * columns.taps.size());
    }

    /// The taps' weights in a kernel of `kernel` columns, in row-major order of the taps.
    std::vector<int64_t> weights(int64_t kernel) const;
};

/// Where a gather writes a range of positions: in groups of `width` neighbours, of which
/// each begins `step` floats after the one before it.
struct GatherLayout {
    int64_t width, step;

    int64_t offset(int64_t position) const {
        return position / width * step + position % width;
    }
};

/// Gathers one tap of one channel at a time.
class Gatherer {
  public:
    /// A write fills the range with zeros up to a multiple of this number of positions.
    static constexpr int64_t kPadding = 16;

    /// `gather` must outlive the gatherer. REQUIRES: each axis has a tap.
    Gatherer(const float* x, const Gather& gather);

    /// Sets the range of positions to [begin, end), and where writes place them.
    /// REQUIRES: layout.width is a multiple of kPadding.
    void select(int64_t begin, int64_t end, GatherLayout layout);

    /// Sets the channel. REQUIRES: a range is set.
    void load_channel(int64_t channel);

    /// Writes the elements under a tap, for each position of the range. May overwrite the
    /// 7 floats after a group. REQUIRES: a channel is set.
    void write(float* to, int64_t tap) const;

  private:
    // At most 8 positions that are neighbours in the slab: copied as one vector.
    struct Piece {
        int32_t to, from;
    };
    // A row of an image, or several rows: every stride-th of them is copied to the slab.
    struct Run {
        int64_t to, image, from, count;
    };

    void add_pieces(int64_t begin, int64_t end, int64_t from);
    void add_runs(int64_t image, int64_t row, int64_t to);

    const float* const x_;
    const Gather& gather_;
    int64_t residues_, slab_columns_;   // a row of the slab is (residues, columns)
    std::vector<int64_t> tap_offsets_;  // from a piece's element under the first tap
    GatherLayout layout_{};
    int64_t begin_ = 0, count_ = 0;
    std::vector<Piece> pieces_;
    std::vector<Run> runs_;
    std::vector<float> slab_;
};

}  // namespace mini::kernels::cpu
