// Convolution as a product of matrices in panels, for layers with many channels.
//
//     y (O, positions)  =  w (O, K)  col (K, positions)            K = channels * taps
//
// as in conv_im2col.cpp, but col is never in memory as a whole. A thread computes a block
// of y, at most 528 channels of 192 positions of any images. It gathers about 256 rows of
// col at a time into panels, and multiplies them with the panels of w:
//
//                          192 positions            the panels of col, 192 KiB, and the
//                      [ panels of col ]  256       block of y, up to 396 KiB, stay in
//          [ w ]       [ block of y    ]  528       the second-level cache; w is read in
//          528 x 256                                order, once for 16 or 32 positions
//
// Each gathered element is used for up to 528 channels, so that gathering costs little.
// The gradient of x is such a product too, of w's transpose and gathered elements of g.

#include "libmini/extras/fast/conv_methods.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/gather.hpp"
#include "libmini/extras/fast/panels.hpp"
#include "libmini/extras/fast/transpose_block.hpp"
#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/scratch.hpp"

namespace mini::kernels::cpu::product {
namespace {

constexpr int64_t kBlockDepth = 256;  // approximately: whole channels
constexpr int64_t kBlockColumns = 192;

// The rows of a block: kMinRows if several threads would have few blocks, or if the
// second-level cache has less than 1 MiB; otherwise kBlockRows. The result's bits do not
// depend on this number.
constexpr int64_t kBlockRows = 88 * kPanelRows, kMinRows = 22 * kPanelRows;

bool has_large_cache() {
    static const bool is_large = sysconf(_SC_LEVEL2_CACHE_SIZE) >= 1 << 20;
    return is_large;
}

// w as (rows, channels, kernel * kernel): for the gradient of x, w's transpose.
struct Weights {
    const float* w;
    int64_t area;  // kernel * kernel
    int64_t rows, row_step, channel_step;
    std::vector<int64_t> taps;  // the index of each tap's weight
};

// The planes to which the product is written: position (n, i, j) to row first_row + i
// step, column first_column + j step, of image n.
struct Planes {
    float* y;
    int64_t channels, H, W;
    int64_t step = 1, first_row = 0, first_column = 0;
};

// Copies up to 6 rows of `count` floats, `step` apart, to a panel (count, 6). `rows` rows
// exist in memory; the others are 0. Reads 8 rows where they exist, and leaves out two.
void transpose_rows(float* to, const float* from, int64_t step, int64_t count,
                    int64_t rows) {
    int64_t k = 0;
    float block[kLanes * kLanes];
    for (; k + kLanes <= count && kLanes <= rows; k += kLanes) {
        transpose_block(block, kLanes, from + k, step);
        for (int64_t r = kPanelRows; r < std::min(rows, 2 * kPanelRows); ++r)
            __builtin_prefetch(from + r * step + k);
        for (int64_t i = 0; i < kLanes; ++i)
            to = std::copy_n(block + i * kLanes, kPanelRows, to);
    }
    for (; k < count; ++k)
        for (int64_t r = 0; r < kPanelRows; ++r)
            *to++ = r < rows ? from[r * step + k] : 0.0f;
}

// One product: its extents, and w in panels.
class Product {
  public:
    Product(const Planes& planes, const float* x, const Gather& gather,
            const Weights& weights, const float* bias);

    // Computes all blocks.
    void run() const;

  private:
    void pack_rows(int64_t begin, int64_t end);
    void pack_panel(float* to, int64_t row, int64_t first, int64_t last) const;
    void compute(int64_t row, int64_t last_row, int64_t position) const;
    void store(const float* block, int64_t row, int64_t last_row, int64_t position) const;

    // The channels whose rows of col are gathered together.
    int64_t channels_per_step() const {
        return std::max<int64_t>(1, kBlockDepth / gather_.taps());
    }

    const Planes& planes_;
    const float* const x_;
    const Gather& gather_;
    const Weights& weights_;
    const float* const bias_;
    const int64_t rows_;  // in whole panels
    std::unique_ptr<float[]> packed_;
};

Product::Product(const Planes& planes, const float* x, const Gather& gather,
                 const Weights& weights, const float* bias)
    : planes_(planes),
      x_(x),
      gather_(gather),
      weights_(weights),
      bias_(bias),
      rows_(in_panels(weights.rows, kPanelRows)),
      packed_(scratch(rows_ * gather.channels * gather.taps())) {
    parallel_for(rows_ / kPanelRows, 4, [&](int64_t begin, int64_t end) {
        pack_rows(begin * kPanelRows, end * kPanelRows);
    });
}

// Copies w to panels (steps of channels, rows / 6, depth of the step, 6).
void Product::pack_rows(int64_t begin, int64_t end) {
    const int64_t C = gather_.channels, taps = gather_.taps();
    for (int64_t first = 0; first < C; first += channels_per_step()) {
        const int64_t last = std::min(C, first + channels_per_step());
        const int64_t depth = (last - first) * taps;
        for (int64_t row = begin; row < end; row += kPanelRows)
            pack_panel(packed_.get() + rows_ * first * taps + row * depth, row, first,
                       last);
    }
}

// Copies the weights of some channels to a panel. Rows that do not exist are 0.
void Product::pack_panel(float* to, int64_t row, int64_t first, int64_t last) const {
    const auto& [w, area, rows, row_step, channel_step, taps] = weights_;
    if (row_step > channel_step &&
        gather_.taps() == area) {  // conv2d: w's rows are in order
        transpose_rows(to, w + row * row_step + first * area, row_step,
                       (last - first) * area, rows - row);
        return;
    }
    const auto columns = scratch(area * kPanelRows);
    for (int64_t c = first; c < last; ++c) {
        transpose_rows(columns.get(), w + row * row_step + c * channel_step, row_step,
                       area, rows - row);
        for (const int64_t tap : taps)
            to = std::copy_n(columns.get() + tap * kPanelRows, kPanelRows, to);
    }
}

void Product::run() const {
    const int64_t ranges = divide_up(gather_.positions(), kBlockColumns);
    const bool are_few = ranges * divide_up(rows_, kBlockRows) < 4 * num_threads();
    const int64_t rows =
        !has_large_cache() || (num_threads() > 1 && are_few) ? kMinRows : kBlockRows;
    const int64_t blocks = divide_up(rows_, rows);
    parallel_for(ranges * blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            const int64_t row = k % blocks * rows;
            compute(row, std::min(rows_, row + rows), k / blocks * kBlockColumns);
        }
    });
}

// Computes the block of y that has the channels row to last_row - 1 and begins with
// `position`.
void Product::compute(int64_t row, int64_t last_row, int64_t position) const {
    const int64_t C = gather_.channels, taps = gather_.taps();
    const int64_t end = std::min(gather_.positions(), position + kBlockColumns);
    const int64_t rows = last_row - row;
    const int64_t columns = in_panels(end - position, kPanelColumns);
    // A panel is one row longer than its depth: a gather overwrites the floats after it.
    const int64_t step = (channels_per_step() * taps + 1) * kPanelColumns;
    const auto panels = scratch(columns / kPanelColumns * step);
    const auto block = scratch(rows * columns);

    Gatherer gatherer(x_, gather_);
    gatherer.select(position, end, {kPanelColumns, step});
    for (int64_t first = 0; first < C; first += channels_per_step()) {
        const int64_t last = std::min(C, first + channels_per_step());
        const int64_t depth = (last - first) * taps;
        float* to = panels.get();
        for (int64_t c = first; c < last; ++c) {
            gatherer.load_channel(c);
            for (int64_t tap = 0; tap < taps; ++tap, to += kPanelColumns)
                gatherer.write(to, tap);
        }
        multiply_panels(block.get(), packed_.get() + rows_ * first * taps + row * depth,
                        panels.get(), {rows, columns, depth, step, first > 0});
    }
    store(block.get(), row, last_row, position);
}

// Adds the bias to a block and copies it to y.
void Product::store(const float* block, int64_t row, int64_t last_row,
                    int64_t position) const {
    const auto& [y, channels, H, W, step, first_row, first_column] = planes_;
    const int64_t end = std::min(gather_.positions(), position + kBlockColumns);
    const int64_t columns = in_panels(end - position, kPanelColumns);
    const int64_t Wo = gather_.columns.outputs, M = gather_.rows.outputs * Wo;
    const int64_t run = step == 1 ? M : Wo;  // positions that are equally spaced in y
    for (int64_t r = row; r < std::min(last_row, weights_.rows); ++r) {
        const float bias = bias_ ? bias_[r] : 0.0f;
        const float* from = block + (r - row) * columns;
        for (int64_t at = position; at < end;) {
            const int64_t next = std::min(end, (at / run + 1) * run);
            const int64_t i = at % M / Wo, j = at % Wo;
            float* to = y + ((at / M * channels + r) * H + first_row + i * step) * W +
                        first_column + j * step;
            if (step == 1)
                for (int64_t k = 0; k < next - at; ++k) to[k] = from[k] + bias;
            else
                for (int64_t k = 0; k < next - at; ++k) to[k * step] = from[k] + bias;
            from += next - at;
            at = next;
        }
    }
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const Gather gather{in.N, in.C, forward_axis(in.H, window),
                        forward_axis(in.W, window)};
    const int64_t area = window.kernel * window.kernel;
    const Weights weights{w, area, O, in.C * area, area, gather.weights(window.kernel)};
    const Planes planes{y, O, gather.rows.outputs, gather.columns.outputs};
    Product(planes, x, gather, weights, bias).run();
}

// With stride s, input h has products with row p of the window only if h + padding - p is
// a multiple of s. So the inputs with equal h mod s, a phase, read g at stride 1 under the
// same rows p: s * s products, one for each phase of the rows and of the columns.
void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window) {
    const int64_t area = window.kernel * window.kernel;
    if (window.kernel < window.stride)  // some inputs are in no window
        std::fill_n(dx, in.N * in.C * in.H * in.W, 0.0f);
    for (int64_t i = 0; i < std::min(window.stride, in.H); ++i)
        for (int64_t j = 0; j < std::min(window.stride, in.W); ++j) {
            const Gather gather{in.N, O, backward_axis(in.H, window, i),
                                backward_axis(in.W, window, j)};
            if (gather.taps() == 0) continue;
            const Weights weights{w,    area,        in.C,
                                  area, in.C * area, gather.weights(window.kernel)};
            const Planes planes{dx, in.C, in.H, in.W, window.stride, i, j};
            Product(planes, g, gather, weights, nullptr).run();
        }
}

}  // namespace mini::kernels::cpu::product
