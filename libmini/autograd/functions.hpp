// The differentiable functions: each computes its result with mini::ops and records its
// backward function.
//
// Names, arguments and defaults are those of torch and torch.nn.functional. Elementwise
// functions broadcast. The backward function of each is next to its forward function, and
// tests/autograd checks it against numerical gradients. All functions throw ShapeError,
// naming both shapes, for operands of incompatible shapes. No function changes its
// arguments, except batch_norm in training (running_mean and running_var).

#pragma once

#include <cstdint>

#include "libmini/autograd/node.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

// ---- arithmetic (functions_math.cpp)

/// Return a + b, a - b, a * b and a / b, element by element; the shapes are broadcast as
/// in PyTorch. Throw ShapeError if the shapes cannot be broadcast.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

/// Return the function's value for each element of x (`torch.exp`, ...).
Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);

/// Returns x times the probability that a standard normal number is below x
/// (`torch.nn.functional.gelu`: the exact form; Hendrycks and Gimpel 2016).
Tensor gelu(const Tensor& x);

/// Return the same as add, sub, mul and div.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }

/// Returns a copy of x on `device`, or x itself if x is on `device` (`Tensor.to`).
/// Backward copies the gradient to x's device.
Tensor to(const Tensor& x, Device device);

/// Returns `value` as a scalar float32 tensor on the device of x.
inline Tensor number_like(const Tensor& x, float value) {
    return Tensor::full({}, value, DType::kFloat32, x.device());
}

/// Return the results of arithmetic with a number, and of negation.
inline Tensor operator+(const Tensor& a, float b) { return add(a, number_like(a, b)); }
inline Tensor operator-(const Tensor& a, float b) { return sub(a, number_like(a, b)); }
inline Tensor operator*(const Tensor& a, float b) { return mul(a, number_like(a, b)); }
inline Tensor operator/(const Tensor& a, float b) { return div(a, number_like(a, b)); }
inline Tensor operator+(float a, const Tensor& b) { return add(number_like(b, a), b); }
inline Tensor operator-(float a, const Tensor& b) { return sub(number_like(b, a), b); }
inline Tensor operator*(float a, const Tensor& b) { return mul(number_like(b, a), b); }
inline Tensor operator/(float a, const Tensor& b) { return div(number_like(b, a), b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

/// Returns the sum of all elements, a scalar.
Tensor sum(const Tensor& x);

/// Returns the sums over `dims`. The summed dimensions have size 1 with keepdim,
/// otherwise they are removed.
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim = false);

/// Returns the mean of all elements, a scalar.
Tensor mean(const Tensor& x);

/// Returns the means over `dims`; keepdim as in sum.
Tensor mean(const Tensor& x, const Shape& dims, bool keepdim = false);

/// Returns the matrix product of a (M, K) and b (K, N).
Tensor matmul(const Tensor& a, const Tensor& b);

/// Returns the B matrix products of a (B, M, K) and b (B, K, N).
Tensor bmm(const Tensor& a, const Tensor& b);

// ---- views (functions_view.cpp)

/// Returns a view of x with a different shape (`Tensor.view`). REQUIRES: x is contiguous.
Tensor view(const Tensor& x, Shape shape);

/// Returns view(x, shape) if x is contiguous, otherwise a copy of x with this shape
/// (`Tensor.reshape`).
Tensor reshape(const Tensor& x, Shape shape);

/// Returns x with the dimensions from start_dim to the last merged into one dimension.
Tensor flatten(const Tensor& x, int64_t start_dim = 0);

/// Return the same views as the functions of mini::ops (tensor/ops.hpp), with gradients.
Tensor permute(const Tensor& x, const Shape& dims);
Tensor transpose(const Tensor& x, int64_t d0, int64_t d1);
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);
Tensor select(const Tensor& x, int64_t dim, int64_t index);
Tensor expand(const Tensor& x, const Shape& shape);

// ---- layers without state (functions_nn.cpp, functions_conv.cpp, functions_pool.cpp,
// functions_norm.cpp, functions_dropout.cpp)

/// Returns x wᵀ + bias: x (..., in), w (out, in), bias (out) or undefined, result (...,
/// out).
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {});

/// Returns the cross-correlation of x and w: x (N, C, H, W), w (O, C, k, k), bias (O) or
/// undefined, result (N, O, Ho, Wo) with Ho = (H + 2 padding - k) / stride + 1. Throws
/// ShapeError if C or O is 0.
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = {},
              int64_t stride = 1, int64_t padding = 0);

/// Returns the maximum of each window. Stride 0 means kernel_size.
Tensor max_pool2d(const Tensor& x, int64_t kernel_size, int64_t stride = 0,
                  int64_t padding = 0);

/// The options of one batch normalisation.
struct BatchNormMode {
    bool training = false;
    double momentum = 0.1;  // the weight of this batch in the running values
    double eps = 1e-5;
};

/// Normalises each channel of x (N, C, ...) to mean 0 and variance 1, then multiplies by
/// weight and adds bias, both (C) or undefined. In training, uses the mean and variance
/// of the batch, and updates running_mean and running_var, (C) or undefined, with the
/// mean and the unbiased variance. In evaluation, uses running_mean and running_var.
/// Throws ShapeError if a training batch has fewer than two values per channel,
/// UsageError if running_mean or running_var is undefined in evaluation.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  BatchNormMode mode = {});

/// Normalises each row of x (..., D) to mean 0 and variance 1, then multiplies by weight
/// and adds bias, both (D) or undefined. Throws ShapeError if D is below 2.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

/// In training, returns x with each element set to zero with probability p, and the other
/// elements divided by 1 - p; in evaluation, returns x. On the CPU, draws two 32-bit
/// numbers per element from `generator`, in the order of x's memory, as PyTorch does. On a
/// GPU, draws only a seed from `generator`, for the GPU's own generator. Draws nothing if
/// p is 0 or 1.
Tensor dropout(const Tensor& x, double p, bool training,
               Generator& generator = default_generator());

/// Like dropout, but sets whole channels to zero: x is (N, C, ...); the function draws
/// once for each (n, c).
Tensor dropout2d(const Tensor& x, double p, bool training,
                 Generator& generator = default_generator());

/// Returns the logarithm of the softmax of x along dimension `dim`.
Tensor log_softmax(const Tensor& x, int64_t dim = -1);

// ---- transformers (functions_transformer.cpp)

/// Returns the softmax of x along dimension `dim`. An element of -infinity has the
/// softmax 0 and the gradient 0; a row needs one finite element, otherwise it becomes NaN.
Tensor softmax(const Tensor& x, int64_t dim = -1);

/// Returns rows of weight (V, D): indices (...) int64, result (..., D). The gradients of
/// equal indices are added in the order of the indices. Throws Error, naming the first
/// index that is not a row. On a GPU, this index gives NaN instead.
Tensor embedding(const Tensor& indices, const Tensor& weight);

struct AttentionOptions {
    bool is_causal = false;  // position i attends only to the positions 0 to i
};

/// Returns softmax(q kᵀ / √E) v: q (..., L, E), k (..., S, E), v (..., S, D), result
/// (..., L, D), with equal sizes for "..." (`scaled_dot_product_attention`; Vaswani et
/// al. 2017). Row i of the softmax has the weights with which position i sums v.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    AttentionOptions options = {});

// ---- losses (losses.cpp)

/// How to reduce the losses of the samples or elements to one number; kNone returns all
/// losses.
enum class Reduction { kNone, kMean, kSum };

/// Returns -log_probabilities[i, target[i]], reduced: log_probabilities (N, classes),
/// target (N) int64. Throws Error, naming the first target that is not a class. On a GPU,
/// the loss of such a target is NaN instead, because a check would block the host.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Reduction reduction = Reduction::kMean);

/// Returns nll_loss(log_softmax(scores), target): scores (N, classes), target (N) int64.
Tensor cross_entropy(const Tensor& scores, const Tensor& target,
                     Reduction reduction = Reduction::kMean);

/// Returns (input - target)², reduced. Throws ShapeError unless the shapes are equal.
Tensor mse_loss(const Tensor& input, const Tensor& target,
                Reduction reduction = Reduction::kMean);

/// Returns -(t log p + (1 - t) log(1 - p)), reduced; logarithms are clamped to at least
/// -100. Both arguments have gradients. Throws ShapeError unless the shapes are equal, and
/// Error, naming the first p or t outside of [0, 1]. On a GPU, the loss of such a p is NaN
/// instead, and t is not checked.
Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target,
                            Reduction reduction = Reduction::kMean);

}  // namespace mini
