// The gradient of the weights as a product of matrices in panels.
//
//     dw (O, K)  =  g (O, positions)  colᵀ (positions, K)          K = channels * taps
//
// The sum is over the positions of all images, and positions are neighbours in memory, in
// g as in col. So 8 lines of 256 positions are gathered, and transposed into panels:
//
//     lines   g0 g1 g2 ...                panel   g0 h0 .. n0
//             h0 h1 h2 ...           ->           g1 h1 .. n1
//             ...                                 ...
//
// A thread computes a block of dw, at most 264 output channels of 384 columns, for all
// positions. If there are few blocks, the positions are divided into parts too, whose
// sums are then added in a fixed order. Blocks and parts depend on the extents only, so
// results do not depend on the number of threads.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/conv_methods.hpp"
#include "libmini/extras/fast/gather.hpp"
#include "libmini/extras/fast/panels.hpp"
#include "libmini/extras/fast/transpose_block.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::product {
namespace {

// A block, 396 KiB, and its panels, 264 and 384 KiB, are about as large as a second-level
// cache of 1 MiB. The number of blocks decides on the parts, and so on the result's bits.
constexpr int64_t kBlockRows = 44 * kPanelRows, kBlockColumns = 384;
constexpr int64_t kLine = 256;     // positions that are gathered together
constexpr int64_t kMinTasks = 16;  // divides the positions if there are fewer blocks

// Gathers lines, each one channel under one tap, into panels of kWidth lines.
template <int64_t kWidth>
class Lines {
  public:
    Lines(const float* x, const Gather& gather)
        : gatherer_(x, gather),
          taps_(gather.taps()),
          count_(gather.channels * taps_),
          lines_(scratch(kLanes * kStep)) {}

    // Selects the positions [begin, end), at most kLine.
    void select(int64_t begin, int64_t end) {
        gatherer_.select(begin, end, {kStep, kStep});
        depth_ = in_panels(end - begin, Gatherer::kPadding);
        channel_ = -1;
    }

    // Writes lines first, first + 1, ... to `panels` panels (depth, kWidth); lines that
    // do not exist are 0. Overwrites the kLanes floats after the panels.
    void pack(float* to, int64_t first, int64_t panels) {
        for (; panels > 0; --panels, first += kWidth, to += depth_ * kWidth)
            for (int64_t i = 0; i < kWidth; i += kLanes) {
                const int64_t lines = std::min(kLanes, kWidth - i);
                for (int64_t line = 0; line < lines; ++line)
                    gather(lines_.get() + line * kStep, first + i + line);
                for (int64_t k = 0; k < depth_; k += kLanes)
                    transpose_block(to + k * kWidth + i, kWidth, lines_.get() + k, kStep);
            }
    }

  private:
    static constexpr int64_t kStep = kLine + Gatherer::kPadding;  // between lines

    void gather(float* to, int64_t line) {
        if (line >= count_) {
            std::fill_n(to, depth_, 0.0f);
            return;
        }
        if (channel_ != line / taps_) gatherer_.load_channel(channel_ = line / taps_);
        gatherer_.write(to, line % taps_);
    }

    Gatherer gatherer_;
    const int64_t taps_, count_;
    std::unique_ptr<float[]> lines_;
    int64_t depth_ = 0, channel_ = -1;
};

// The product: its extents, its blocks and its parts.
struct Problem {
    const float* g;
    const float* x;
    Gather outputs;             // of g
    Gather inputs;              // of x
    std::vector<int64_t> taps;  // the index of each tap's weight in the kernel
    int64_t area;               // elements of the kernel

    int64_t O() const { return outputs.channels; }
    int64_t K() const { return inputs.channels * inputs.taps(); }
    int64_t positions() const { return inputs.positions(); }

    int64_t row_blocks() const { return divide_up(O(), kBlockRows); }
    int64_t blocks() const { return row_blocks() * divide_up(K(), kBlockColumns); }
    int64_t lines_per_part() const {
        const int64_t parts = divide_up(kMinTasks, blocks());
        return std::max<int64_t>(1, divide_up(positions(), parts * kLine));
    }
    int64_t parts() const { return divide_up(positions(), lines_per_part() * kLine); }
};

// Writes block (O, K) of dw (O, channels, kernel, kernel), from row and column on.
void store_block(float* dw, const float* block, int64_t row, int64_t column,
                 const Problem& problem) {
    const int64_t columns = std::min(kBlockColumns, problem.K() - column);
    const int64_t step = in_panels(columns, kPanelColumns);
    const size_t taps = problem.taps.size();
    const int64_t channel = column / problem.inputs.taps();
    const bool has_all_taps = problem.inputs.taps() == problem.area;
    for (int64_t o = row; o < std::min(row + kBlockRows, problem.O());
         ++o, block += step) {
        if (has_all_taps) {
            std::copy_n(block, columns, dw + o * problem.K() + column);
            continue;
        }
        float* to = dw + (o * problem.inputs.channels + channel) * problem.area;
        auto tap = static_cast<size_t>(column % problem.inputs.taps());
        for (int64_t k = 0; k < columns; ++k) {
            to[problem.taps[tap]] = block[k];
            if (++tap < taps) continue;
            tap = 0;
            to += problem.area;
        }
    }
}

// Computes the block of dw that begins with `row` and `column`, for one part of the
// positions.
void compute_block(float* dw, int64_t row, int64_t column, int64_t part,
                   const Problem& problem) {
    const int64_t rows = in_panels(std::min(kBlockRows, problem.O() - row), kPanelRows);
    const int64_t columns =
        in_panels(std::min(kBlockColumns, problem.K() - column), kPanelColumns);
    const auto a = scratch(rows * kLine + kLanes), b = scratch(columns * kLine + kLanes);
    const auto block = scratch(rows * columns);
    Lines<kPanelRows> left(problem.g, problem.outputs);
    Lines<kPanelColumns> right(problem.x, problem.inputs);

    const int64_t first = part * problem.lines_per_part() * kLine;
    const int64_t last =
        std::min(problem.positions(), first + problem.lines_per_part() * kLine);
    for (int64_t begin = first; begin < last; begin += kLine) {
        const int64_t end = std::min(last, begin + kLine);
        const int64_t depth = in_panels(end - begin, Gatherer::kPadding);
        left.select(begin, end);
        left.pack(a.get(), row, rows / kPanelRows);
        right.select(begin, end);
        right.pack(b.get(), column, columns / kPanelColumns);
        multiply_panels(block.get(), a.get(), b.get(),
                        {rows, columns, depth, depth * kPanelColumns, begin > first});
    }
    store_block(dw, block.get(), row, column, problem);
}

}  // namespace

void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window) {
    const GatherAxis rows = forward_axis(in.H, window);
    const GatherAxis columns = forward_axis(in.W, window);
    const auto same = [](int64_t extent) {  // reads the element at the position itself
        return GatherAxis{extent, extent, 1, {{0, 0}}};
    };
    Problem problem{g,
                    x,
                    {in.N, O, same(rows.outputs), same(columns.outputs)},
                    {in.N, in.C, rows, columns},
                    {},
                    window.kernel * window.kernel};
    problem.taps = problem.inputs.weights(window.kernel);

    // Weights of taps under which every output reads padding have the gradient 0.
    const int64_t size = O * in.C * problem.area, parts = problem.parts();
    const auto partial = scratch(parts > 1 ? parts * size : 0);
    float* const to = parts > 1 ? partial.get() : dw;
    if (problem.inputs.taps() < problem.area || problem.positions() == 0)
        std::fill_n(to, std::max<int64_t>(1, parts) * size, 0.0f);

    const int64_t blocks = problem.blocks(), row_blocks = problem.row_blocks();
    parallel_for(parts * blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            const int64_t part = k / blocks, block = k % blocks;
            compute_block(to + part * size, block % row_blocks * kBlockRows,
                          block / row_blocks * kBlockColumns, part, problem);
        }
    });
    if (parts > 1) sum(dw, partial.get(), 1, parts, size);
}

}  // namespace mini::kernels::cpu::product
