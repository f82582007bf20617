#include "libmini/tensor/ops.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "libmini/core/parallel.hpp"
#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/dispatch.hpp"

namespace mini::ops {
namespace {

using kernels::ImageExtents;
using kernels::Window;

ImageExtents image_extents(const char* name, const Shape& shape, Window window) {
    check_shape(shape.size() == 4, name, ": the input is ", shape, ", not (N, C, H, W)");
    const ImageExtents in{shape[0], shape[1], shape[2], shape[3]};
    check_shape(window.kernel > 0 && window.stride > 0 && window.padding >= 0, name,
                ": kernel ", window.kernel, " and stride ", window.stride,
                " must be positive, padding ", window.padding, " not negative");
    check_shape(in.H + 2 * window.padding >= window.kernel &&
                    in.W + 2 * window.padding >= window.kernel,
                name, ": a window of ", window.kernel, " does not fit into the input ",
                shape, " with padding ", window.padding);
    return in;
}

constexpr int64_t kBmmGrain = 1 << 22;  // multiplications per chunk, about 0.1 ms

// Matrices (B, rows, cols) as they are stored: contiguous, or each of them transposed.
struct StoredMatrices {
    Tensor tensor;
    bool is_transposed;
};

StoredMatrices as_stored(const Tensor& x) {
    const Tensor flipped = transpose(x, 1, 2);
    if (!x.is_contiguous() && flipped.is_contiguous()) return {flipped, true};
    return {contiguous(x), false};
}

Shape image_result(const ImageExtents& in, int64_t channels, Window window) {
    return {in.N, channels, window.output(in.H), window.output(in.W)};
}

// Swaps `dim` and the last dimension: the kernels of log_softmax take rows.
Tensor swapped(const Tensor& x, int64_t dim) {
    return dim == -1 ? x : transpose(x, dim, -1);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, kernels::MatmulOptions options) {
    check_shape(a.dim() == 2 && b.dim() == 2, "matmul: needs two matrices, but got ",
                a.shape(), " and ", b.shape());
    const int64_t M = a.size(options.transpose_a ? 1 : 0);
    const int64_t K = a.size(options.transpose_a ? 0 : 1);
    const int64_t N = b.size(options.transpose_b ? 0 : 1);
    check_shape(b.size(options.transpose_b ? 1 : 0) == K, "matmul: a is ", a.shape(),
                options.transpose_a ? " transposed" : "", " but b is ", b.shape(),
                options.transpose_b ? " transposed" : "");

    const Tensor in_a = contiguous(a);
    const Tensor in_b = contiguous(b);
    const Device device = common_device("matmul", a, b);
    Tensor out = a.new_empty({M, N});
    run<cpu::matmul, gpu::matmul>(device, out.data<float>(), in_a.data<float>(),
                                  in_b.data<float>(), M, N, K, options);
    return out;
}

Tensor bmm(const Tensor& a, const Tensor& b) {
    check_shape(
        a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0) && a.size(2) == b.size(1),
        "bmm: needs (B, M, K) and (B, K, N), but got ", a.shape(), " and ", b.shape());
    const int64_t B = a.size(0), M = a.size(1), K = a.size(2), N = b.size(2);
    const StoredMatrices left = as_stored(a), right = as_stored(b);
    const Device device = common_device("bmm", a, b);
    Tensor out = a.new_empty({B, M, N});

    // On a GPU, one chunk: only this thread knows the current stream.
    const int64_t work = std::max<int64_t>(1, M * N * K);
    const int64_t grain = device.is_cpu() ? std::max<int64_t>(1, kBmmGrain / work) : B;
    parallel_for(B, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            run<cpu::matmul, gpu::matmul>(
                device, out.data<float>() + i * M * N,
                left.tensor.data<float>() + i * M * K,
                right.tensor.data<float>() + i * K * N, M, N, K,
                kernels::MatmulOptions{.transpose_a = left.is_transposed,
                                       .transpose_b = right.is_transposed});
    });
    return out;
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias) {
    check_shape(x.dim() == 2 && w.dim() == 2 && x.size(1) == w.size(1), "linear: x is ",
                x.shape(), " but the weight is ", w.shape());
    Tensor y = matmul(x, w, {.transpose_b = true});
    if (!bias.defined()) return y;
    check_shape(bias.shape() == Shape{w.size(0)}, "linear: the bias is ", bias.shape(),
                " but the weight is ", w.shape());
    const Tensor rows = expand(bias, y.shape());
    run<cpu::binary, gpu::binary>(
        common_device("linear", y, bias), kernels::BinaryOp::kAdd, y.data<float>(),
        y.data<float>(), rows.data<float>(), y.shape(), y.strides(), rows.strides());
    return y;
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, Window window) {
    const ImageExtents in = image_extents("conv2d", x.shape(), window);
    check_shape(w.shape() == Shape{w.size(0), in.C, window.kernel, window.kernel},
                "conv2d: the input is ", x.shape(), " but the weight is ", w.shape());
    const int64_t O = w.size(0);
    check_shape(in.C > 0 && O > 0, "conv2d: the weight is ", w.shape(),
                "; it needs at least one input channel and one output channel");
    check_shape(!bias.defined() || bias.shape() == Shape{O}, "conv2d: the weight is ",
                w.shape(), " but the bias is of a different length");

    const Tensor images = contiguous(x);
    const Tensor weight = contiguous(w);
    const Tensor added = bias.defined() ? contiguous(bias) : bias;
    const Device device = common_device("conv2d", x, w, bias);
    Tensor y = x.new_empty(image_result(in, O, window));
    run<cpu::conv2d, gpu::conv2d>(
        device, y.data<float>(), images.data<float>(), weight.data<float>(),
        added.defined() ? added.data<float>() : nullptr, in, O, window);
    return y;
}

Tensor conv2d_backward_input(const Tensor& g, const Tensor& w, const Shape& x_shape,
                             Window window) {
    const ImageExtents in = image_extents("conv2d", x_shape, window);
    const Tensor grad = contiguous(g);
    const Tensor weight = contiguous(w);
    Tensor dx = g.new_empty(x_shape);
    run<cpu::conv2d_backward_input, gpu::conv2d_backward_input>(
        common_device("conv2d", g, w), dx.data<float>(), grad.data<float>(),
        weight.data<float>(), in, w.size(0), window);
    return dx;
}

std::pair<Tensor, Tensor> conv2d_backward_weight(const Tensor& g, const Tensor& x,
                                                 const Shape& w_shape, Window window,
                                                 bool with_bias) {
    const ImageExtents in = image_extents("conv2d", x.shape(), window);
    const Tensor grad = contiguous(g);
    const Tensor images = contiguous(x);
    Tensor dw = g.new_empty(w_shape);
    Tensor dbias = with_bias ? g.new_empty({w_shape[0]}) : Tensor();
    run<cpu::conv2d_backward_weight, gpu::conv2d_backward_weight>(
        common_device("conv2d", g, x), dw.data<float>(),
        with_bias ? dbias.data<float>() : nullptr, grad.data<float>(),
        images.data<float>(), in, w_shape[0], window);
    return {dw, dbias};
}

MaxPooled max_pool2d(const Tensor& x, Window window) {
    const ImageExtents in = image_extents("max_pool2d", x.shape(), window);
    check_shape(2 * window.padding <= window.kernel, "max_pool2d: padding ",
                window.padding, " is more than half the window of ", window.kernel);
    const Tensor images = contiguous(x);
    MaxPooled pooled{x.new_empty(image_result(in, in.C, window)), nullptr};
    pooled.where = std::make_shared<Storage>(
        static_cast<size_t>(pooled.values.numel()) * sizeof(int32_t), x.device());
    run<cpu::max_pool2d, gpu::max_pool2d>(
        x.device(), pooled.values.data<float>(),
        reinterpret_cast<int32_t*>(pooled.where->data()), images.data<float>(), in,
        window);
    return pooled;
}

Tensor max_pool2d_backward(const Tensor& g, Storage& where, const Shape& x_shape,
                           Window window) {
    const ImageExtents in = image_extents("max_pool2d", x_shape, window);
    const Tensor grad = contiguous(g);
    Tensor dx = g.new_empty(x_shape);
    run<cpu::max_pool2d_backward, gpu::max_pool2d_backward>(
        g.device(), dx.data<float>(), grad.data<float>(),
        reinterpret_cast<const int32_t*>(where.data()), in, window);
    return dx;
}

Tensor log_softmax(const Tensor& x, int64_t dim) {
    const Tensor in = contiguous(swapped(x, dim));
    Tensor y = x.new_empty(in.shape());
    const int64_t cols = in.size(-1), rows = in.numel() / std::max<int64_t>(cols, 1);
    run<cpu::log_softmax, gpu::log_softmax>(x.device(), y.data<float>(), in.data<float>(),
                                            rows, cols);
    return swapped(y, dim);
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
    const Tensor grad = contiguous(swapped(g, dim));
    const Tensor result = contiguous(swapped(y, dim));
    Tensor dx = y.new_empty(result.shape());
    const int64_t cols = dx.size(-1), rows = dx.numel() / std::max<int64_t>(cols, 1);
    run<cpu::log_softmax_backward, gpu::log_softmax_backward>(
        common_device("log_softmax", g, y), dx.data<float>(), grad.data<float>(),
        result.data<float>(), rows, cols);
    return swapped(dx, dim);
}

}  // namespace mini::ops
