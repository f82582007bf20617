// Average pooling over rectangles, one for each pair of a row span and a column span.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::ops {
namespace {

using kernels::ImageExtents;
using kernels::PoolSpan;
using kernels::Window;

ImageExtents image_extents(const char* name, const Shape& shape) {
    check_shape(shape.size() == 4, name, ": the input is ", shape, ", not (N, C, H, W)");
    return {shape[0], shape[1], shape[2], shape[3]};
}

Shape pooled_shape(const ImageExtents& in, const PoolSpans& spans) {
    return {in.N, in.C, static_cast<int64_t>(spans.rows.size()),
            static_cast<int64_t>(spans.cols.size())};
}

}  // namespace

std::vector<PoolSpan> sliding_spans(int64_t extent, Window window,
                                    bool count_include_pad) {
    std::vector<PoolSpan> spans;
    for (int64_t i = 0; i < window.output(extent); ++i) {
        const int64_t first = i * window.stride - window.padding;
        const int64_t last = std::min(first + window.kernel, extent + window.padding);
        const int64_t begin = std::max<int64_t>(first, 0);
        const int64_t end = std::min(last, extent);
        spans.push_back({begin, end, count_include_pad ? last - first : end - begin});
    }
    return spans;
}

std::vector<PoolSpan> adaptive_spans(int64_t extent, int64_t outputs) {
    std::vector<PoolSpan> spans;
    for (int64_t i = 0; i < outputs; ++i) {
        const int64_t begin = i * extent / outputs;
        const int64_t end = ((i + 1) * extent + outputs - 1) / outputs;  // rounded up
        spans.push_back({begin, end, end - begin});
    }
    return spans;
}

PoolSpans avg_pool2d_spans(const Shape& x_shape, Window window, bool count_include_pad) {
    const ImageExtents in = image_extents("avg_pool2d", x_shape);
    check_shape(window.kernel > 0 && window.stride > 0 && window.padding >= 0,
                "avg_pool2d: kernel ", window.kernel, " and stride ", window.stride,
                " must be positive, padding ", window.padding, " not negative");
    check_shape(2 * window.padding <= window.kernel, "avg_pool2d: padding ",
                window.padding, " is more than half the window of ", window.kernel);
    check_shape(std::min(in.H, in.W) + 2 * window.padding >= window.kernel,
                "avg_pool2d: a window of ", window.kernel,
                " does not fit into the input ", x_shape, " with padding ",
                window.padding);
    return {sliding_spans(in.H, window, count_include_pad),
            sliding_spans(in.W, window, count_include_pad)};
}

PoolSpans adaptive_avg_pool2d_spans(const Shape& x_shape, int64_t rows, int64_t cols) {
    const ImageExtents in = image_extents("adaptive_avg_pool2d", x_shape);
    check_shape(rows > 0 && cols > 0, "adaptive_avg_pool2d: the output of ", rows, " x ",
                cols, " must have rows and columns");
    check_shape(in.H > 0 && in.W > 0, "adaptive_avg_pool2d: the input ", x_shape,
                " has no pixels to average");
    return {adaptive_spans(in.H, rows), adaptive_spans(in.W, cols)};
}

Tensor avg_pool2d(const Tensor& x, const PoolSpans& spans) {
    const ImageExtents in = image_extents("avg_pool2d", x.shape());
    const Tensor images = contiguous(x);
    Tensor y = x.new_empty(pooled_shape(in, spans));
    run<cpu::avg_pool2d, gpu::avg_pool2d>(
        x.device(), y.data<float>(), images.data<float>(), in, spans.rows, spans.cols);
    return y;
}

Tensor avg_pool2d_backward(const Tensor& g, const Shape& x_shape,
                           const PoolSpans& spans) {
    const ImageExtents in = image_extents("avg_pool2d", x_shape);
    const Tensor grad = contiguous(g);
    Tensor dx = g.new_empty(x_shape);
    run<cpu::avg_pool2d_backward, gpu::avg_pool2d_backward>(
        g.device(), dx.data<float>(), grad.data<float>(), in, spans.rows, spans.cols);
    return dx;
}

}  // namespace mini::ops
