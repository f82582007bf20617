// The operations on tensors: they check shapes, make the result, call a kernel. No autograd.
//
// autograd/functions.hpp offers the same names with gradients; a program that trains
// calls those. Views share storage with their input and copy nothing; everything else
// returns new, contiguous tensors. Names, arguments and broadcasting are PyTorch's. All
// throw ShapeError, naming both shapes, for operands that do not fit.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::ops {

// ---- broadcasting (broadcast.cpp)

/// The common shape of two: sizes are matched from the back, and a size of 1 stretches
/// (`torch.broadcast_shapes`).
Shape broadcast_shapes(const Shape& a, const Shape& b);

/// x seen in the larger `shape`, stretched dimensions with stride 0 (`Tensor.expand`). A view.
Tensor expand(const Tensor& x, const Shape& shape);

/// The gradient of broadcasting: x summed over what was stretched, down to `shape`.
Tensor sum_to(const Tensor& x, const Shape& shape);

// ---- elementwise, float32 (ops.cpp)

/// Element by element, the shapes broadcast: what autograd's functions run.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor unary(kernels::UnaryOp op, const Tensor& x);

/// g where y > 0, else 0: the gradient of relu from its result y.
Tensor relu_backward(const Tensor& g, const Tensor& y);

// ---- in place; each counts one change of x's storage (ops.cpp)

/// x += alpha * y. REQUIRES: equal shapes, both contiguous.
void add_(Tensor& x, const Tensor& y, float alpha = 1.0f);

/// x *= alpha. REQUIRES: contiguous.
void mul_(Tensor& x, float alpha);

/// Sets every element. REQUIRES: contiguous.
void fill_(Tensor& x, float value);

/// Adds 1 to every element of an int64 tensor. REQUIRES: contiguous.
void increment_(Tensor& x);

/// Copies the elements of y, of any strides, into x, of any strides; shapes and dtypes equal.
void copy_(Tensor& x, const Tensor& y);

// ---- copies (ops.cpp)

/// x itself when it is contiguous, else a copy that is.
Tensor contiguous(const Tensor& x);

/// A contiguous copy.
Tensor clone(const Tensor& x);

/// The elements converted, float to integer by truncation (`Tensor.to`).
Tensor to(const Tensor& x, DType dtype);

/// Whether shapes, dtypes and all elements are equal (`torch.equal`).
bool equal(const Tensor& a, const Tensor& b);

// ---- views (view_ops.cpp)

/// The same elements in a different shape; one size may be -1, meaning the rest. x must be
/// contiguous; reshape copies when it is not.
Tensor view(const Tensor& x, Shape shape);
Tensor reshape(const Tensor& x, Shape shape);

/// Dimension d of the result is dimension dims[d] of x.
Tensor permute(const Tensor& x, const Shape& dims);
Tensor transpose(const Tensor& x, int64_t d0, int64_t d1);

/// `length` positions of dimension `dim`, from `start` on.
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);

/// Position `index` of dimension `dim`, which disappears.
Tensor select(const Tensor& x, int64_t dim, int64_t index);

// ---- reductions (reduce_ops.cpp)

/// The sum of all elements, a scalar; or over `dims`, which become 1 with keepdim, else go.
Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim);

/// The place of the greatest element along the last dimension, int64.
Tensor argmax(const Tensor& x);

// ---- products (nn_ops.cpp)

/// a b for matrices (M, K) and (K, N); with options, of their transposes.
Tensor matmul(const Tensor& a, const Tensor& b, kernels::MatmulOptions options = {});

/// x wᵀ + bias: x (N, in), w (out, in), bias (out) or undefined, result (N, out).
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias);

// ---- images, (N, C, H, W) (nn_ops.cpp; averages: pool_ops.cpp)

/// The convolution of x (N, C, H, W) with w (M, C, kernel, kernel) and a bias (M) or
/// none, and what a gradient g of its result makes of x.
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias,
              kernels::Window window);
Tensor conv2d_backward_input(const Tensor& g, const Tensor& w, const Shape& x_shape,
                             kernels::Window window);

/// dL/dw and, if asked for, dL/dbias.
std::pair<Tensor, Tensor> conv2d_backward_weight(const Tensor& g, const Tensor& x,
                                                 const Shape& w_shape,
                                                 kernels::Window window, bool with_bias);

/// The result of max_pool2d, and where each maximum was: h * W + w within its plane, as int32.
struct MaxPooled {
    Tensor values;
    std::shared_ptr<Storage> where;
};
MaxPooled max_pool2d(const Tensor& x, kernels::Window window);
Tensor max_pool2d_backward(const Tensor& g, Storage& where, const Shape& x_shape,
                           kernels::Window window);

/// The spans that windows sliding along an axis of `extent` average. With
/// `count_include_pad`, the padding that a window covers counts; what lies beyond it never.
std::vector<kernels::PoolSpan> sliding_spans(int64_t extent, kernels::Window window,
                                             bool count_include_pad);

/// Spans that share an axis of `extent` out among `outputs`: output i has
/// [i extent / outputs, (i + 1) extent / outputs), rounded outwards.
std::vector<kernels::PoolSpan> adaptive_spans(int64_t extent, int64_t outputs);

/// The spans of both axes.
struct PoolSpans {
    std::vector<kernels::PoolSpan> rows, cols;
};

/// Those of avg_pool2d and adaptive_avg_pool2d for images of `x_shape`. Both throw
/// ShapeError for what is no image, no window or no size.
PoolSpans avg_pool2d_spans(const Shape& x_shape, kernels::Window window,
                           bool count_include_pad);
PoolSpans adaptive_avg_pool2d_spans(const Shape& x_shape, int64_t rows, int64_t cols);

/// The averages of x over all rectangles, and dL/dx.
Tensor avg_pool2d(const Tensor& x, const PoolSpans& spans);
Tensor avg_pool2d_backward(const Tensor& g, const Shape& x_shape, const PoolSpans& spans);

// ---- normalisation of channels, (N, C, ...) (norm_ops.cpp)

/// The mean and the variance, divided by n, of each channel: two tensors (C).
struct Moments {
    Tensor mean;
    Tensor variance;
};
Moments channel_moments(const Tensor& x);

/// running = (1 - momentum) running + momentum moments, the variance first multiplied by
/// n / (n - 1), which makes it unbiased; n is the number of values of a channel.
void update_running_(Moments& running, const Moments& moments, int64_t n,
                     double momentum);

/// (x - mean) / sqrt(variance + eps) * weight + bias; weight and bias (C) or undefined.
Tensor batch_norm(const Tensor& x, const Moments& moments, const Tensor& weight,
                  const Tensor& bias, double eps);

/// dL/dx, dL/dweight and dL/dbias.
struct BatchNormGrads {
    Tensor x, weight, bias;
};
BatchNormGrads batch_norm_backward(const Tensor& g, const Tensor& x,
                                   const Moments& moments, const Tensor& weight,
                                   kernels::BatchNormBackward options);

// ---- rows of class scores, (N, classes) (nn_ops.cpp)

/// Row by row the logarithm of the softmax, and from its result y the gradient of x.
Tensor log_softmax(const Tensor& x);
Tensor log_softmax_backward(const Tensor& g, const Tensor& y);

}  // namespace mini::ops
