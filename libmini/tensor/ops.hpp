// The tensor operations without autograd: each checks shapes, allocates the result and
// calls a kernel.
//
// Training programs call the functions of autograd/functions.hpp instead, which compute
// the same results and record them for the backward pass. Views share the storage of
// their input and copy no elements. All other functions return new, contiguous tensors,
// unless their contract permits returning the input. Names, arguments and broadcasting
// follow PyTorch. All functions throw ShapeError, naming both shapes, for operands of
// incompatible shapes.

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

/// Returns the broadcast shape of two shapes: sizes are matched from the last dimension,
/// and a size of 1 expands to the other size, even if that is 0
/// (`torch.broadcast_shapes`). Throws ShapeError if two sizes differ and neither is 1.
Shape broadcast_shapes(const Shape& a, const Shape& b);

/// Returns a view of x with the larger `shape`; added and expanded dimensions have stride
/// 0 (`Tensor.expand`). Throws ShapeError if x has more dimensions than `shape`, or a
/// size that differs from its size in `shape` and is not 1.
Tensor expand(const Tensor& x, const Shape& shape);

/// Returns the dimensions of `to` in which broadcasting `from` to `to` repeats elements:
/// dimensions added in front, also of size 1, and dimensions expanded from size 1. Throws
/// ShapeError if `from` cannot be broadcast to `to`.
Shape broadcast_dims(const Shape& from, const Shape& to);

/// Returns x summed over broadcast_dims(shape, x.shape()): the gradient of broadcasting.
/// The result has shape `shape`, and is x itself if x has this shape. Throws ShapeError
/// if `shape` cannot be broadcast to the shape of x.
Tensor sum_to(const Tensor& x, const Shape& shape);

// ---- elementwise, float32 (ops.cpp)

/// Returns a + b, a - b, a * b or a / b, elementwise; the shapes are broadcast. Throws
/// ShapeError if an operand is not float32.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

/// Returns the results of applying `op` to each element of x.
Tensor unary(kernels::UnaryOp op, const Tensor& x);

/// Returns dL/dx of relu, where g is dL/dy and y is the result of relu: an element of g
/// if the element of y is positive, otherwise 0.
Tensor relu_backward(const Tensor& g, const Tensor& y);

// ---- in place; each call increments the version of x's storage once (ops.cpp)
//
// These functions are not recorded for the backward pass. So, unless a NoGradGuard is in
// scope, each throws Error if x or y requires grad. They throw Error if elements of y are
// at the addresses of other elements of x.

/// Computes x += alpha * y. REQUIRES: equal shapes, both contiguous.
void add_(Tensor& x, const Tensor& y, float alpha = 1.0f);

/// Computes x *= alpha. REQUIRES: x is contiguous.
void mul_(Tensor& x, float alpha);

/// Sets every element to `value`. REQUIRES: x is contiguous.
void fill_(Tensor& x, float value);

/// Adds 1 to every element of an int64 tensor. REQUIRES: x is contiguous.
void increment_(Tensor& x);

/// Copies the elements of y to x, also between devices (`Tensor.copy_`). Throws Error if
/// two elements of x have the same address. REQUIRES: equal shapes and dtypes. The strides
/// may differ.
/// Between devices, blocks until the copy has completed, except, with `non_blocking`,
/// for a copy between a contiguous tensor in pinned memory and a GPU: see Tensor::to.
void copy_(Tensor& x, const Tensor& y, bool non_blocking = false);

// ---- copies (ops.cpp)

/// Returns x if x is contiguous, otherwise a contiguous copy.
Tensor contiguous(const Tensor& x);

/// Returns a contiguous copy.
Tensor clone(const Tensor& x);

/// Returns a copy with the elements converted to `dtype` (`Tensor.to`); a conversion from
/// float to integer truncates.
Tensor to(const Tensor& x, DType dtype);

/// Returns whether shapes, dtypes and all elements are equal (`torch.equal`).
bool equal(const Tensor& a, const Tensor& b);

// ---- views (view_ops.cpp)

/// Returns a view of x with a different shape. One size may be -1: it is computed from
/// the number of elements. Throws ShapeError unless x is contiguous.
Tensor view(const Tensor& x, Shape shape);

/// Returns view(x, shape) if x is contiguous, otherwise the view of a contiguous copy.
Tensor reshape(const Tensor& x, Shape shape);

/// Returns a view with the dimensions reordered: dimension d of the result is dimension
/// dims[d] of x (`Tensor.permute`); negative dimensions count from the end. Throws
/// ShapeError unless `dims` names every dimension once.
Tensor permute(const Tensor& x, const Shape& dims);

/// Returns a view with the dimensions d0 and d1 swapped (`Tensor.transpose`).
Tensor transpose(const Tensor& x, int64_t d0, int64_t d1);

/// Returns a view of the indices start .. start + length - 1 of dimension `dim`; a
/// negative start counts from the end (`Tensor.narrow`). Throws ShapeError if the dimension
/// lacks an index, or for a negative length. With length 0, start may be the size.
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);

/// Returns a view of index `index` of dimension `dim`; the result does not have this
/// dimension; index -1 is the last (`Tensor.select`). Throws ShapeError if the dimension
/// lacks the index.
Tensor select(const Tensor& x, int64_t dim, int64_t index);

// ---- reductions (reduce_ops.cpp)

/// Returns the sum of all elements as a scalar tensor.
Tensor sum(const Tensor& x);

/// Returns the sums over `dims`. With keepdim, the summed dimensions have size 1;
/// otherwise they are removed. If `dims` is empty, the result may share the storage of x.
/// Throws ShapeError if `dims` names a dimension twice.
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim);

/// Returns the indices of the greatest elements along the last dimension, as int64; the
/// result does not have this dimension. Of equal elements the first counts; NaN is
/// greater than all numbers. Throws ShapeError if there is no last dimension or its size
/// is 0.
Tensor argmax(const Tensor& x);

// ---- products (nn_ops.cpp)

/// Returns the matrix product (M, N) of a (M, K) and b (K, N). With transpose_a, a is
/// (K, M); with transpose_b, b is (N, K). REQUIRES: `accumulate` is not set.
Tensor matmul(const Tensor& a, const Tensor& b, kernels::MatmulOptions options = {});

/// Returns the B matrix products (B, M, N) of a (B, M, K) and b (B, K, N) (`torch.bmm`).
/// Reads matrices that transpose() has transposed without copying them.
Tensor bmm(const Tensor& a, const Tensor& b);

/// Returns x wᵀ + bias: x (N, in), w (out, in), bias (out) or undefined, result (N, out).
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias);

// ---- images, (N, C, H, W) (nn_ops.cpp)

/// Returns the convolution of x (N, C, H, W) with w (M, C, kernel, kernel) plus bias, (M)
/// or undefined.
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias,
              kernels::Window window);

/// Returns dL/dx of conv2d, where g is dL/dy.
Tensor conv2d_backward_input(const Tensor& g, const Tensor& w, const Shape& x_shape,
                             kernels::Window window);

/// Returns dL/dw and, if with_bias, dL/dbias of conv2d, where g is dL/dy.
std::pair<Tensor, Tensor> conv2d_backward_weight(const Tensor& g, const Tensor& x,
                                                 const Shape& w_shape,
                                                 kernels::Window window, bool with_bias);

/// The result of max_pool2d, and the position of each maximum in its input plane (H, W),
/// h * W + w, as int32.
struct MaxPooled {
    Tensor values;
    std::shared_ptr<Storage> where;
};

/// Returns the maximum of each window, and its position.
MaxPooled max_pool2d(const Tensor& x, kernels::Window window);

/// Returns dL/dx of max_pool2d, where g is dL/dy and `where` is from max_pool2d.
Tensor max_pool2d_backward(const Tensor& g, Storage& where, const Shape& x_shape,
                           kernels::Window window);

// ---- normalisation of channels, (N, C, ...) (norm_ops.cpp)

/// The mean and the biased variance (divided by n) of each channel: two tensors (C).
struct Moments {
    Tensor mean;
    Tensor variance;
};

/// Returns the moments of each channel of x.
Moments channel_moments(const Tensor& x);

/// Sets running to (1 - momentum) running + momentum moments. The variance of `moments`
/// is first multiplied by n / (n - 1), which makes it unbiased; n is the number of values
/// per channel. REQUIRES: n > 1.
void update_running_(Moments& running, const Moments& moments, int64_t n,
                     double momentum);

/// Returns (x - mean) / sqrt(variance + eps) * weight + bias; weight and bias are (C) or
/// undefined.
Tensor batch_norm(const Tensor& x, const Moments& moments, const Tensor& weight,
                  const Tensor& bias, double eps);

/// dL/dx, dL/dweight and dL/dbias of batch_norm.
struct BatchNormGrads {
    Tensor x, weight, bias;
};

/// Returns the gradients of batch_norm, where g is dL/dy.
BatchNormGrads batch_norm_backward(const Tensor& g, const Tensor& x,
                                   const Moments& moments, const Tensor& weight,
                                   kernels::BatchNormBackward options);

// ---- class scores (nn_ops.cpp)

/// Returns the logarithm of the softmax along dimension `dim`.
Tensor log_softmax(const Tensor& x, int64_t dim = -1);

/// Returns dL/dx of log_softmax, where g is dL/dy and y is the result of log_softmax.
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim = -1);

}  // namespace mini::ops
