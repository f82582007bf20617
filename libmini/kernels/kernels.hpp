// The arithmetic of libmini: plain functions on pointers and extents.
//
// Outputs come first, one parameter a line with its shape. Arrays are row-major without
// gaps unless strides are given. No kernel allocates per element, keeps state, or checks
// what tensor/ops.hpp has checked. All run on the calling thread and those of
// core/parallel.hpp, and give the same bits for any number of threads.
//
// Legend:  N batch   C channels in   O channels out   H W image   M N K matrix extents

#pragma once

#include <cstdint>
#include <span>

namespace mini::kernels {

/// What a kernel makes of two numbers.
enum class BinaryOp { kAdd, kSub, kMul, kDiv };

/// What a kernel makes of one number.
enum class UnaryOp { kNeg, kExp, kLog, kSqrt, kReLU, kSigmoid, kTanh };

/// A convolution or a pooling window: one number a side, square kernels.
struct Window {
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t padding = 0;

    /// The extent of the output along an axis of `extent`.
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

/// The part [begin, end) of an axis that one output of a pooling averages, and the number
/// of places it stands for: padding may count, but is not read.
struct PoolSpan {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t count = 0;
};

/// Extents of a normalisation of channels: x (N, C, space), where space is H W for images
/// and 1 for rows.
struct ChannelExtents {
    int64_t N = 0;
    int64_t C = 0;
    int64_t space = 0;

    /// How many numbers a channel has.
    int64_t per_channel() const { return N * space; }
};

struct MatmulOptions {
    bool transpose_a = false;  // a is stored (K, M)
    bool transpose_b = false;  // b is stored (N, K)
    bool accumulate = false;   // out += instead of out =
};

/// How the forward pass normalised.
struct BatchNormBackward {
    double eps = 1e-5;
    bool of_batch = true;  // mean and variance are x's own, so x also acts through them
};

/// The numbers of one step of SGD.
struct SGDStep {
    float lr = 0.01f;
    float momentum = 0.0f;
    float dampening = 0.0f;
    float weight_decay = 0.0f;
    bool nesterov = false;
    bool first = true;  // the velocity starts as the gradient itself
};

/// Numbers are in double, as Python has them, and become floats where they meet one.
struct AdamStep {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0.0;
    bool decoupled = false;  // weight decay shrinks p itself, not by way of g: AdamW
    bool maximize = false;
    int64_t step = 1;  // this one; the first is 1
};

namespace cpu {

// ---- elementwise (elementwise.cpp)

/// out[i] = a[i] op b[i] over `shape`, each input with its own strides, 0 where it is
/// broadcast.
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

/// Copies elements of `item_bytes` bytes from strided to contiguous order; strides count
/// elements.
void copy_strided(std::byte* out,      // shape, contiguous
                  const std::byte* x,  // shape, strides
                  std::span<const int64_t> shape, std::span<const int64_t> strides,
                  int64_t item_bytes);

/// The reverse: copies contiguous elements to strided places. REQUIRES: no two are the
/// same place.
void copy_to_strided(std::byte* out,      // shape, strides
                     const std::byte* x,  // shape, contiguous
                     std::span<const int64_t> shape, std::span<const int64_t> strides,
                     int64_t item_bytes);

// ---- reductions (reduce.cpp)

/// out[i, j] = the sum over k of x[i, k, j], in an order that depends on the extents
/// alone.
void sum(float* out,      // (outer, inner)
         const float* x,  // (outer, reduced, inner)
         int64_t outer, int64_t reduced, int64_t inner);

/// out[i] = the index of the first greatest element of row i; a NaN counts as greatest.
void argmax(int64_t* out,    // (rows)
            const float* x,  // (rows, cols)
            int64_t rows, int64_t cols);

// ---- products (matmul.cpp)

/// out = a b.
void matmul(float* out,      // (M, N)
            const float* a,  // (M, K), or (K, M) when transposed
            const float* b,  // (K, N), or (N, K) when transposed
            int64_t M, int64_t N, int64_t K, MatmulOptions options = {});

/// y[i, j] += bias[j].
void add_bias_rows(float* y,           // (rows, cols)
                   const float* bias,  // (cols)
                   int64_t rows, int64_t cols);

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

/// y = the greatest element of each window, padding counting as -inf; `where` remembers
/// its place in the plane as h * W + w. The first one wins a tie, a NaN wins over numbers
/// (`torch.nn.functional.max_pool2d`).
void max_pool2d(float* y,        // (N, C, Ho, Wo)
                int32_t* where,  // (N, C, Ho, Wo)
                const float* x,  // (N, C, H, W)
                ImageExtents in, Window window);

/// dx[where] += g, elsewhere 0.
void max_pool2d_backward(float* dx,             // (N, C, H, W)
                         const float* g,        // (N, C, Ho, Wo)
                         const int32_t* where,  // (N, C, Ho, Wo)
                         ImageExtents in, Window window);

// ---- average pooling (avg_pool.cpp)

/// y[i, j] = the sum of x over rows[i] and cols[j], divided by the product of their counts.
/// One kernel for `torch.nn.functional.avg_pool2d` and `adaptive_avg_pool2d`, which differ
/// in the spans alone.
void avg_pool2d(float* y,        // (N, C, |rows|, |cols|)
                const float* x,  // (N, C, H, W)
                ImageExtents in, std::span<const PoolSpan> rows,
                std::span<const PoolSpan> cols);

/// dx = the share of each g in all that it averaged.
void avg_pool2d_backward(float* dx,       // (N, C, H, W)
                         const float* g,  // (N, C, |rows|, |cols|)
                         ImageExtents in, std::span<const PoolSpan> rows,
                         std::span<const PoolSpan> cols);

// ---- batch normalisation (norm.cpp)

/// The mean of each channel and its variance, divided by the number of values; both are
/// accumulated in double.
void channel_moments(float* mean,      // (C)
                     float* variance,  // (C)
                     const float* x,   // (N, C, space)
                     ChannelExtents at);

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, channel by channel.
void batch_norm(float* y,               // (N, C, space)
                const float* x,         // (N, C, space)
                const float* mean,      // (C)
                const float* variance,  // (C)
                const float* weight,    // (C), or null for ones
                const float* bias,      // (C), or null for zeros
                ChannelExtents at, double eps);

/// dL/dx, dL/dweight and dL/dbias from g = dL/dy.
void batch_norm_backward(float* dx,              // (N, C, space)
                         float* dweight,         // (C)
                         float* dbias,           // (C)
                         const float* g,         // (N, C, space)
                         const float* x,         // (N, C, space)
                         const float* mean,      // (C)
                         const float* variance,  // (C)
                         const float* weight,    // (C), or null for ones
                         ChannelExtents at, BatchNormBackward options);

// ---- softmax (softmax.cpp)

/// y = x - log(sum over the row of exp(x)), with the row's greatest element taken out
/// first.
void log_softmax(float* y,        // (rows, cols)
                 const float* x,  // (rows, cols)
                 int64_t rows, int64_t cols);

/// dx = g - exp(y) * (sum over the row of g).
void log_softmax_backward(float* dx,       // (rows, cols)
                          const float* g,  // (rows, cols)
                          const float* y,  // (rows, cols), log_softmax's result
                          int64_t rows, int64_t cols);

// ---- optimizers (optim.cpp)

/// One step of stochastic gradient descent, in one pass over memory:
///     g += weight_decay * p;  v = first ? g : momentum * v + (1 - dampening) * g;
///     p -= lr * (nesterov ? g + momentum * v : v)
/// `velocity` may be null when momentum is 0 (`torch.optim.SGD`).
void sgd_step(float* parameter,   // (n)
              float* velocity,    // (n), or null
              const float* grad,  // (n)
              int64_t n, SGDStep step);

/// One step of Adam, in one pass over memory:
///     g = maximize ? -g : g;  decoupled ? p *= 1 - lr * weight_decay : g += weight_decay * p;
///     m += (1 - beta1) * (g - m);  v = beta2 * v + (1 - beta2) * g * g;
///     p -= lr / (1 - beta1^step) * m / (sqrt(v) / sqrt(1 - beta2^step) + eps)
/// where m is `exp_avg` and v is `exp_avg_sq`, both 0 before the first step. Unless it is
/// null, `max_exp_avg_sq` keeps the greatest v so far, which then stands in the last line
/// (AMSGrad). (`torch.optim.Adam`, `torch.optim.AdamW`).
void adam_step(float* parameter,       // (n)
               float* exp_avg,         // (n)
               float* exp_avg_sq,      // (n)
               float* max_exp_avg_sq,  // (n), or null
               const float* grad,      // (n)
               int64_t n, AdamStep step);

}  // namespace cpu
}  // namespace mini::kernels
