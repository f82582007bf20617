// The arithmetic of libmini: plain functions on pointers and extents.
//
// Output parameters come first; each array has its own line with its shape. Arrays are
// row-major and contiguous unless strides are given. A kernel does not allocate per
// element, keeps no state, and does not repeat the checks of tensor/ops.hpp. Kernels run
// on the calling thread and the threads of core/parallel.hpp; the results are bitwise
// identical for any number of threads.
//
// Legend:  N batch   C channels in   O channels out   H W image   M N K matrix extents

#pragma once

#include <cstdint>
#include <span>

namespace mini::kernels {

/// An elementwise operation with two operands.
enum class BinaryOp { kAdd, kSub, kMul, kDiv };

/// An elementwise operation with one operand. kGELUSlope is the derivative of kGELU.
enum class UnaryOp { kNeg, kExp, kLog, kSqrt, kReLU, kSigmoid, kTanh, kGELU, kGELUSlope };

/// The window of a convolution or a pooling: square, with the same stride and padding
/// along both axes.
struct Window {
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t padding = 0;

    /// Returns the output's extent along an axis on which the input has `extent`
    /// elements.
    int64_t output(int64_t extent) const {
        return (extent + 2 * padding - kernel) / stride + 1;
    }
};

/// Extents of a convolution or pooling of images (N, C, H, W).
struct ImageExtents {
    int64_t N = 0;
    int64_t C = 0;
    int64_t H = 0;
    int64_t W = 0;
};

/// Extents of a normalisation of channels: x (N, C, space), where space is H W for images
/// and 1 for rows.
struct ChannelExtents {
    int64_t N = 0;
    int64_t C = 0;
    int64_t space = 0;

    /// Returns the number of elements per channel.
    int64_t per_channel() const { return N * space; }
};

struct MatmulOptions {
    bool transpose_a = false;  // a is stored (K, M)
    bool transpose_b = false;  // b is stored (N, K)
    bool accumulate = false;   // out += instead of out =
};

/// How the forward pass normalised its input.
struct BatchNormBackward {
    double eps = 1e-5;
    bool of_batch = true;  // mean and variance were computed from x and depend on x
};

/// The hyperparameters of one SGD step.
struct SGDStep {
    float lr = 0.01f;
    float momentum = 0.0f;
    float dampening = 0.0f;
    float weight_decay = 0.0f;
    bool nesterov = false;
    bool first = true;  // the first step, which sets the velocity to the gradient
};

/// The hyperparameters of one Adam step: doubles, as in Python, converted to float before
/// they are combined with elements.
struct AdamStep {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0.0;
    bool decoupled = false;  // AdamW: weight decay scales p and is not added to g
    int64_t step = 1;        // the number of this step, counted from 1
};

namespace cpu {

// ---- elementwise (elementwise.cpp)

/// out[i] = a[i] op b[i] over `shape`. Each input has its own strides; an input is
/// broadcast along an axis with stride 0.
void binary(BinaryOp op,
            float* out,      // shape, contiguous
            const float* a,  // shape, a_strides
            const float* b,  // shape, b_strides
            std::span<const int64_t> shape, std::span<const int64_t> a_strides,
            std::span<const int64_t> b_strides);

/// out[i] = op(x[i]).
void unary(UnaryOp op,
           float* out,      // (n)
           const float* x,  // (n)
           int64_t n);

/// out[i] = y[i] > 0 ? g[i] : 0: the gradient of ReLU from its output.
void relu_backward(float* out,      // (n)
                   const float* g,  // (n)
                   const float* y,  // (n)
                   int64_t n);

/// y += alpha * x.
void axpy(float* y,        // (n)
          const float* x,  // (n)
          float alpha, int64_t n);

/// x *= alpha.
void scale(float* x,  // (n)
           float alpha, int64_t n);

/// out[i] = value.
void fill(float* out,  // (n)
          float value, int64_t n);

/// Copies elements of `item_bytes` bytes from strided to contiguous order. Strides count
/// elements.
void copy_strided(std::byte* out,      // shape, contiguous
                  const std::byte* x,  // shape, strides
                  std::span<const int64_t> shape, std::span<const int64_t> strides,
                  int64_t item_bytes);

/// The reverse of copy_strided: copies contiguous elements to strided addresses.
/// REQUIRES: the addresses are distinct.
void copy_to_strided(std::byte* out,      // shape, strides
                     const std::byte* x,  // shape, contiguous
                     std::span<const int64_t> shape, std::span<const int64_t> strides,
                     int64_t item_bytes);

// ---- reductions (reduce.cpp)

/// out[i, j] = the sum over k of x[i, k, j]; 0 if `reduced` is 0. The relative error is at
/// most 1e-5 for 2^20 equal numbers. The bits do not depend on the number of threads.
void sum(float* out,      // (outer, inner)
         const float* x,  // (outer, reduced, inner)
         int64_t outer, int64_t reduced, int64_t inner);

/// out[i] = the index of the first maximum of row i, or of its first NaN. REQUIRES: cols > 0.
void argmax(int64_t* out,    // (rows)
            const float* x,  // (rows, cols)
            int64_t rows, int64_t cols);

// ---- embedding (embedding.cpp)

/// out[i, j] = weight[indices[i], j]. REQUIRES: each index in [0, rows).
void embedding(float* out,              // (n, cols)
               const float* weight,     // (rows, cols)
               const int64_t* indices,  // (n)
               int64_t n, int64_t rows, int64_t cols);

/// Sets dweight to 0, then dweight[indices[i], j] += g[i, j] for i = 0, 1, 2, ...
void embedding_backward(float* dweight,          // (rows, cols)
                        const float* g,          // (n, cols)
                        const int64_t* indices,  // (n)
                        int64_t n, int64_t rows, int64_t cols);

// ---- products (matmul.cpp)

/// out = a b.
void matmul(float* out,      // (M, N)
            const float* a,  // (M, K), or (K, M) when transposed
            const float* b,  // (K, N), or (N, K) when transposed
            int64_t M, int64_t N, int64_t K, MatmulOptions options = {});

// ---- convolution (conv.cpp)

/// y = the cross-correlation of x with w, plus bias (`torch.nn.functional.conv2d`).
void conv2d(float* y,           // (N, O, Ho, Wo)
            const float* x,     // (N, C, H, W)
            const float* w,     // (O, C, kernel, kernel)
            const float* bias,  // (O), or null
            ImageExtents in, int64_t O, Window window);

/// dL/dx from g = dL/dy.
void conv2d_backward_input(float* dx,       // (N, C, H, W)
                           const float* g,  // (N, O, Ho, Wo)
                           const float* w,  // (O, C, kernel, kernel)
                           ImageExtents in, int64_t O, Window window);

/// dL/dw and, unless `dbias` is null, dL/dbias from g = dL/dy.
void conv2d_backward_weight(float* dw,       // (O, C, kernel, kernel)
                            float* dbias,    // (O), or null
                            const float* g,  // (N, O, Ho, Wo)
                            const float* x,  // (N, C, H, W)
                            ImageExtents in, int64_t O, Window window);

// ---- pooling (pool.cpp)

/// y = the maximum of each window, with padding as -inf; indices = the index h * W + w of
/// this maximum in its plane. The first of equal elements wins, and NaN wins over numbers
/// (`torch.nn.functional.max_pool2d`).
void max_pool2d(float* y,          // (N, C, Ho, Wo)
                int32_t* indices,  // (N, C, Ho, Wo)
                const float* x,    // (N, C, H, W)
                ImageExtents in, Window window);

/// Sets dx to 0, then dx[indices[k]] += g[k] for each output k of each plane.
void max_pool2d_backward(float* dx,               // (N, C, H, W)
                         const float* g,          // (N, C, Ho, Wo)
                         const int32_t* indices,  // (N, C, Ho, Wo)
                         ImageExtents in, Window window);

// ---- batch normalisation (norm.cpp)

/// The mean and the biased variance (divided by the number of values) of each channel,
/// accumulated in double.
void channel_moments(float* mean,      // (C)
                     float* variance,  // (C)
                     const float* x,   // (N, C, space)
                     ChannelExtents extents);

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, per channel.
void batch_norm(float* y,               // (N, C, space)
                const float* x,         // (N, C, space)
                const float* mean,      // (C)
                const float* variance,  // (C)
                const float* weight,    // (C), or null for ones
                const float* bias,      // (C), or null for zeros
                ChannelExtents extents, double eps);

/// dL/dx, dL/dweight and dL/dbias from g = dL/dy.
void batch_norm_backward(float* dx,              // (N, C, space)
                         float* dweight,         // (C)
                         float* dbias,           // (C)
                         const float* g,         // (N, C, space)
                         const float* x,         // (N, C, space)
                         const float* mean,      // (C)
                         const float* variance,  // (C)
                         const float* weight,    // (C), or null for ones
                         ChannelExtents extents, BatchNormBackward options);

// ---- softmax (softmax.cpp)

/// y = x - log(sum over the row of exp(x)), finite also where exp(x) is not, or where the
/// softmax is 0 in float. A row with NaN, infinity, or only -infinity becomes NaN.
void log_softmax(float* y,        // (rows, cols)
                 const float* x,  // (rows, cols)
                 int64_t rows, int64_t cols);

/// dx = g - exp(y) * (sum over the row of g).
void log_softmax_backward(float* dx,       // (rows, cols)
                          const float* g,  // (rows, cols)
                          const float* y,  // (rows, cols), log_softmax's result
                          int64_t rows, int64_t cols);

// ---- losses: one for each sample or element (loss_kernels.cpp)

/// losses[i] = -x[i, target[i]]. REQUIRES: each target in [0, cols).
void nll(float* losses,          // (rows)
         const float* x,         // (rows, cols), logarithms of probabilities
         const int64_t* target,  // (rows)
         int64_t rows, int64_t cols);

/// dx[i, target[i]] = -g[i], and 0 elsewhere.
void nll_backward(float* dx,              // (rows, cols)
                  const float* g,         // (rows)
                  const int64_t* target,  // (rows)
                  int64_t rows, int64_t cols);

/// losses[i] = -(t log p + (1 - t) log(1 - p)). Logarithms are clamped to at least -100,
/// as in PyTorch: a p of 0 or 1 costs at most 100 instead of infinity.
void binary_cross_entropy(float* losses,   // (n)
                          const float* p,  // (n), in [0, 1]
                          const float* t,  // (n)
                          int64_t n);

/// dp[i] = g (p - t) / (p (1 - p)). The divisor is clamped to at least 1e-12, as in
/// PyTorch.
void binary_cross_entropy_backward(float* dp,       // (n)
                                   const float* g,  // (n)
                                   const float* p,  // (n)
                                   const float* t,  // (n)
                                   int64_t n);

// ---- optimizers (sgd.cpp, adam.cpp)

/// One step of stochastic gradient descent, in one pass over memory:
///     g += weight_decay * p;  v = first ? g : momentum * v + (1 - dampening) * g;
///     p -= lr * (nesterov ? g + momentum * v : v)
/// `velocity` may be null when momentum is 0 (`torch.optim.SGD`).
void sgd_step(float* parameter,   // (n)
              float* velocity,    // (n), or null
              const float* grad,  // (n)
              int64_t n, SGDStep step);

/// One step of Adam, in one pass over memory:
///     decoupled ? p *= 1 - lr * weight_decay : g += weight_decay * p;
///     m += (1 - beta1) * (g - m);  v = beta2 * v + (1 - beta2) * g * g;
///     p -= lr / (1 - beta1^step) * m / (sqrt(v) / sqrt(1 - beta2^step) + eps)
/// where m is `exp_avg` and v is `exp_avg_sq`, both 0 before the first step
/// (`torch.optim.Adam`, `torch.optim.AdamW`).
void adam_step(float* parameter,   // (n)
               float* exp_avg,     // (n)
               float* exp_avg_sq,  // (n)
               const float* grad,  // (n)
               int64_t n, AdamStep step);

}  // namespace cpu
}  // namespace mini::kernels
