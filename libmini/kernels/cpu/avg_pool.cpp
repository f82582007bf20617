// Average pooling, one plane of one image at a time.
//
// An output averages a rectangle: a span of rows times a span of columns. Sliding windows
// and adaptive windows differ only in their spans, so one kernel computes both.
//
//     columns   0 1 2 3 4 5 6
//     slide     [0 1 2] [3 4 5]             kernel 3, stride 3: column 6 is not used
//     adapt     [0 1 2] [2 3 4] [4 5 6]     three outputs share seven columns
//
// An output costs one addition for each input in its rectangle.

#include <algorithm>
#include <cstdint>
#include <span>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/plane_grain.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

using Spans = std::span<const PoolSpan>;

// Returns the sum of x (H, W) over one rectangle, row after row, added in Sum: double for
// large rectangles, since a float sum of ones stays at 2^24.
template <typename Sum>
float sum_in(const float* x, int64_t W, const PoolSpan& rows, const PoolSpan& cols) {
    Sum total = 0;
    for (int64_t h = rows.begin; h < rows.end; ++h)
        for (int64_t w = cols.begin; w < cols.end; ++w) total += x[h * W + w];
    return static_cast<float>(total);
}

float sum_over(const float* x, int64_t W, const PoolSpan& rows, const PoolSpan& cols) {
    constexpr int64_t kMaxInFloat = 1024;  // elements
    const bool is_small =
        (rows.end - rows.begin) * (cols.end - cols.begin) <= kMaxInFloat;
    return is_small ? sum_in<float>(x, W, rows, cols) : sum_in<double>(x, W, rows, cols);
}

// Adds `share` to each element of x (H, W) in one rectangle.
void add_over(float* x, int64_t W, const PoolSpan& rows, const PoolSpan& cols,
              float share) {
    for (int64_t h = rows.begin; h < rows.end; ++h)
        for (int64_t w = cols.begin; w < cols.end; ++w) x[h * W + w] += share;
}

float divisor(const PoolSpan& rows, const PoolSpan& cols) {
    return static_cast<float>(rows.count * cols.count);
}

}  // namespace

void avg_pool2d(float* y, const float* x, ImageExtents in, Spans rows, Spans cols) {
    const int64_t in_plane = in.H * in.W;
    const auto out_plane = static_cast<int64_t>(rows.size() * cols.size());
    parallel_for(in.N * in.C, planes_per_chunk(in), [&](int64_t begin, int64_t end) {
        float* out = y + begin * out_plane;
        for (int64_t plane = begin; plane < end; ++plane)
            for (const PoolSpan& row : rows)
                for (const PoolSpan& col : cols)
                    *out++ = sum_over(x + plane * in_plane, in.W, row, col) /
                             divisor(row, col);
    });
}

void avg_pool2d_backward(float* dx, const float* g, ImageExtents in, Spans rows,
                         Spans cols) {
    const int64_t in_plane = in.H * in.W;
    const auto out_plane = static_cast<int64_t>(rows.size() * cols.size());
    parallel_for(in.N * in.C, planes_per_chunk(in), [&](int64_t begin, int64_t end) {
        std::fill(dx + begin * in_plane, dx + end * in_plane, 0.0f);
        const float* grad = g + begin * out_plane;
        for (int64_t plane = begin; plane < end; ++plane)
            for (const PoolSpan& row : rows)
                for (const PoolSpan& col : cols)
                    add_over(dx + plane * in_plane, in.W, row, col,
                             *grad++ / divisor(row, col));
    });
}

}  // namespace mini::kernels::cpu
