// The differentiable functions: compute with mini::ops, record how the gradient goes back.
//
// Names, arguments and defaults are those of torch and torch.nn.functional. Elementwise
// functions broadcast. Each function's gradient is written beside its value, and checked
// against numerical differentiation in tests/autograd. All throw ShapeError, naming both
// shapes, for operands that do not fit. None changes its arguments.

#pragma once

#include <cstdint>

#include "libmini/autograd/node.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/random/streams.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

// ---- arithmetic (functions_math.cpp)

/// Element by element, the shapes broadcast as PyTorch does. Throws ShapeError where they
/// cannot be.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
/// Element by element, the functions of these names (`torch.exp`, ...).
Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);

/// add, sub, mul and div.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
/// The same elements on another device; the gradient goes back to x's (`Tensor.to`).
Tensor to(const Tensor& x, Device device);

/// A number beside a tensor, on its device.
inline Tensor number_like(const Tensor& x, float value) {
    return Tensor::full({}, value, DType::kFloat32, x.device());
}
inline Tensor operator+(const Tensor& a, float b) { return add(a, number_like(a, b)); }
inline Tensor operator-(const Tensor& a, float b) { return sub(a, number_like(a, b)); }
inline Tensor operator*(const Tensor& a, float b) { return mul(a, number_like(a, b)); }
inline Tensor operator/(const Tensor& a, float b) { return div(a, number_like(a, b)); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

/// The sum of all elements, a scalar; or over `dims`, which become 1 with keepdim, else go.
Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim = false);

/// The mean, likewise.
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, const Shape& dims, bool keepdim = false);

/// The matrix product (M, K)(K, N).
Tensor matmul(const Tensor& a, const Tensor& b);

// ---- views (functions_view.cpp)

/// The same elements in their order, in a different shape (`Tensor.view`, `Tensor.reshape`).
Tensor view(const Tensor& x, Shape shape);
Tensor reshape(const Tensor& x, Shape shape);

/// Dimensions start_dim and after become one.
Tensor flatten(const Tensor& x, int64_t start_dim = 0);
Tensor permute(const Tensor& x, const Shape& dims);
Tensor transpose(const Tensor& x, int64_t d0, int64_t d1);
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);
Tensor select(const Tensor& x, int64_t dim, int64_t index);
Tensor expand(const Tensor& x, const Shape& shape);

// ---- layers without state (functions_nn.cpp, functions_pool.cpp, functions_norm.cpp)

/// x wᵀ + bias: x (N, in), w (out, in), bias (out) or undefined, result (N, out).
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {});

/// Cross-correlation: x (N, C, H, W), w (O, C, k, k), bias (O) or undefined, result (N,
/// O, Ho, Wo) with Ho = (H + 2 padding - k) / stride + 1.
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = {},
              int64_t stride = 1, int64_t padding = 0);

/// The greatest element of each window; stride 0 means the window's own size.
Tensor max_pool2d(const Tensor& x, int64_t kernel_size, int64_t stride = 0,
                  int64_t padding = 0);

/// The mean of each window; stride 0 means the window's own size. Zeros in the padding
/// count, unless count_include_pad is false.
Tensor avg_pool2d(const Tensor& x, int64_t kernel_size, int64_t stride = 0,
                  int64_t padding = 0, bool count_include_pad = true);

/// The means over output_rows x output_cols rectangles that cover the image, result (N, C,
/// output_rows, output_cols): any sizes, also greater than the image's.
Tensor adaptive_avg_pool2d(const Tensor& x, int64_t output_rows, int64_t output_cols);

/// How batch normalisation behaves in this pass.
struct BatchNormMode {
    bool training = false;
    double momentum = 0.1;  // the share of this batch in the running values
    double eps = 1e-5;
};

/// Each channel of x (N, C, ...) shifted and scaled to mean 0 and variance 1, then scaled
/// by weight and shifted by bias, both (C) or undefined. In training, mean and variance
/// are the batch's, and running_mean and running_var, (C) or undefined, move towards them,
/// the variance unbiased; otherwise they are the running ones. Throws ShapeError when a
/// training batch has fewer than two values per channel, which have no variance, and
/// UsageError when there is nothing to normalise by.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  BatchNormMode mode = {});

/// In training, each element is zeroed with probability p and the others are divided by 1
/// - p; otherwise x itself. Draws two words per element from `generator`, as PyTorch does.
Tensor dropout(const Tensor& x, double p, bool training,
               Generator& generator = generator_of(Stream::kDropout));

/// The same for whole channels: x (N, C, ...), one draw for each (n, c).
Tensor dropout2d(const Tensor& x, double p, bool training,
                 Generator& generator = generator_of(Stream::kDropout));

/// The logarithm of softmax along each row of x (N, classes).
Tensor log_softmax(const Tensor& x);

// ---- losses (losses.cpp)

/// What becomes of the losses of the single samples or elements.
enum class Reduction { kNone, kMean, kSum };

/// -log_probabilities[i, target[i]]: log_probabilities (N, classes), target (N) int64.
/// Throws Error naming the first target that is no class; on a GPU, where the host would have
/// to wait to see it, its loss is NaN.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                Reduction reduction = Reduction::kMean);

/// nll_loss of log_softmax: scores (N, classes), target (N) int64.
Tensor cross_entropy(const Tensor& scores, const Tensor& target,
                     Reduction reduction = Reduction::kMean);

/// (input - target)², equal shapes.
Tensor mse_loss(const Tensor& input, const Tensor& target,
                Reduction reduction = Reduction::kMean);

/// -(t log p + (1 - t) log(1 - p)), equal shapes, p in [0, 1]; logarithms are cut off at
/// -100. Throws Error naming the first p outside of [0, 1].
Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target,
                            Reduction reduction = Reduction::kMean);

}  // namespace mini
