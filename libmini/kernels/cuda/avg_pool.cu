// Average pooling. A thread computes one result at a time, in a grid-stride loop:
//
//     forward    one output    the average of its rectangle, a row span x a column span
//     backward   one input     the sum of g / divisor over all rectangles that contain it
//
// The spans are passed to the kernel by value, up to kMaxSpans per axis; larger outputs
// are computed tile by tile. So the spans need no copy to the device. For each tile,
// backward accesses only the inputs that it covers.

#include "libmini/kernels/cuda/each.hpp"

#include <cstddef>
#include <span>

#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr int64_t kMaxSpans = 64;  // 24 bytes each: a launch's parameters fit in 4 KiB

// Outputs [first_row, first_row + rows) by [first_col, first_col + cols) of each plane.
struct Tile {
    int64_t H, W, Ho, Wo;
    int64_t first_row, first_col;
    int64_t rows, cols;
    PoolSpan row[kMaxSpans], col[kMaxSpans];

    // The inputs that the tile covers: the first row and column, and the extents.
    int64_t top, left, height, width;

    __device__ int64_t output(int64_t plane, int64_t i, int64_t j) const {
        return (plane * Ho + first_row + i) * Wo + first_col + j;
    }
    __device__ float divisor(int64_t i, int64_t j) const {
        return static_cast<float>(row[i].count * col[j].count);
    }
};

__global__ void avg_pool_kernel(float* y,        // (planes, Ho, Wo)
                                const float* x,  // (planes, H, W)
                                Tile tile, int64_t n) {
    for (int64_t k = thread_number(); k < n; k += thread_count()) {
        const int64_t j = k % tile.cols, i = k / tile.cols % tile.rows;
        const int64_t plane = k / tile.cols / tile.rows;
        const PoolSpan rows = tile.row[i], cols = tile.col[j];

        const float* from = x + plane * tile.H * tile.W;
        float total = 0.0f;
        for (int64_t h = rows.begin; h < rows.end; ++h)
            for (int64_t w = cols.begin; w < cols.end; ++w) total += from[h * tile.W + w];
        y[tile.output(plane, i, j)] = total / tile.divisor(i, j);
    }
}

__global__ void avg_pool_backward_kernel(float* dx,       // (planes, H, W)
                                         const float* g,  // (planes, Ho, Wo)
                                         Tile tile, int64_t n) {
    for (int64_t k = thread_number(); k < n; k += thread_count()) {
        const int64_t w = tile.left + k % tile.width;
        const int64_t h = tile.top + k / tile.width % tile.height;
        const int64_t plane = k / tile.width / tile.height;

        float* to = dx + (plane * tile.H + h) * tile.W + w;
        float total = *to;
        for (int64_t i = 0; i < tile.rows; ++i) {
            if (h < tile.row[i].begin || h >= tile.row[i].end) continue;
            for (int64_t j = 0; j < tile.cols; ++j)
                if (w >= tile.col[j].begin && w < tile.col[j].end)
                    total += g[tile.output(plane, i, j)] / tile.divisor(i, j);
        }
        *to = total;
    }
}

// Copies `count` spans from index `first` on, and returns the range of the axis that they
// cover.
PoolSpan take_spans(PoolSpan* to, std::span<const PoolSpan> spans, int64_t first,
                    int64_t count) {
    const auto part =
        spans.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    std::copy(part.begin(), part.end(), to);
    PoolSpan covered = part[0];
    for (const PoolSpan& span : part) {
        covered.begin = std::min(covered.begin, span.begin);
        covered.end = std::max(covered.end, span.end);
    }
    return covered;
}

// Calls body(tile) for each tile of the outputs.
template <typename Body>
void for_each_tile(const ImageExtents& in, std::span<const PoolSpan> rows,
                   std::span<const PoolSpan> cols, const Body& body) {
    Tile tile{};
    tile.H = in.H;
    tile.W = in.W;
    tile.Ho = static_cast<int64_t>(rows.size());
    tile.Wo = static_cast<int64_t>(cols.size());
    for (tile.first_row = 0; tile.first_row < tile.Ho; tile.first_row += kMaxSpans)
        for (tile.first_col = 0; tile.first_col < tile.Wo; tile.first_col += kMaxSpans) {
            tile.rows = std::min(kMaxSpans, tile.Ho - tile.first_row);
            tile.cols = std::min(kMaxSpans, tile.Wo - tile.first_col);
            const PoolSpan high = take_spans(tile.row, rows, tile.first_row, tile.rows);
            const PoolSpan wide = take_spans(tile.col, cols, tile.first_col, tile.cols);
            tile.top = high.begin;
            tile.left = wide.begin;
            tile.height = std::max<int64_t>(0, high.end - high.begin);
            tile.width = std::max<int64_t>(0, wide.end - wide.begin);
            body(tile);
        }
}

}  // namespace

void avg_pool2d(float* y, const float* x, ImageExtents in, std::span<const PoolSpan> rows,
                std::span<const PoolSpan> cols, cudaStream_t stream) {
    for_each_tile(in, rows, cols, [&](const Tile& tile) {
        const int64_t n = in.N * in.C * tile.rows * tile.cols;
        launch(avg_pool_kernel, grid_for(n), stream, y, x, tile, n);
    });
}

void avg_pool2d_backward(float* dx, const float* g, ImageExtents in,
                         std::span<const PoolSpan> rows, std::span<const PoolSpan> cols,
                         cudaStream_t stream) {
    const int64_t size = in.N * in.C * in.H * in.W;
    mini::cuda::set_bytes(dx, 0, static_cast<size_t>(size) * sizeof(float), stream);
    for_each_tile(in, rows, cols, [&](const Tile& tile) {
        const int64_t n = in.N * in.C * tile.height * tile.width;
        launch(avg_pool_backward_kernel, grid_for(n), stream, dx, g, tile, n);
    });
}

}  // namespace mini::kernels::cuda
