// The same arithmetic on a GPU: the contracts of kernels.hpp and losses.hpp, on device
// memory, in stream order.
//
// Pointers are to memory of the stream's device; extents and spans are in host memory. A
// call returns once the work is in the stream. The order of a summation depends only on
// the extents, so repeated runs are bitwise identical; sums differ from the CPU's in the
// last digits.

#pragma once

#include <cstdint>
#include <span>

#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cuda {

// ---- elementwise (elementwise.cu)

void binary(BinaryOp op,
            float* out,      // shape, contiguous
            const float* a,  // shape, a_strides
            const float* b,  // shape, b_strides
            std::span<const int64_t> shape, std::span<const int64_t> a_strides,
            std::span<const int64_t> b_strides, cudaStream_t stream);

void unary(UnaryOp op,
           float* out,      // (n)
           const float* x,  // (n)
           int64_t n, cudaStream_t stream);

void relu_backward(float* out,      // (n)
                   const float* g,  // (n)
                   const float* y,  // (n)
                   int64_t n, cudaStream_t stream);

void axpy(float* y,        // (n)
          const float* x,  // (n)
          float alpha, int64_t n, cudaStream_t stream);

void scale(float* x,  // (n)
           float alpha, int64_t n, cudaStream_t stream);

void fill(float* out,  // (n)
          float value, int64_t n, cudaStream_t stream);

void copy_strided(std::byte* out,      // shape, contiguous
                  const std::byte* x,  // shape, strides
                  std::span<const int64_t> shape, std::span<const int64_t> strides,
                  int64_t item_bytes, cudaStream_t stream);

void copy_to_strided(std::byte* out,      // shape, strides
                     const std::byte* x,  // shape, contiguous
                     std::span<const int64_t> shape, std::span<const int64_t> strides,
                     int64_t item_bytes, cudaStream_t stream);

// ---- reductions (reduce.cu)

void sum(float* out,      // (outer, inner)
         const float* x,  // (outer, reduced, inner)
         int64_t outer, int64_t reduced, int64_t inner, cudaStream_t stream);

void argmax(int64_t* out,    // (rows)
            const float* x,  // (rows, cols)
            int64_t rows, int64_t cols, cudaStream_t stream);

// ---- products (matmul.cpp, and elementwise.cu for add_bias_rows)

void matmul(float* out,      // (M, N)
            const float* a,  // (M, K), or (K, M) when transposed
            const float* b,  // (K, N), or (N, K) when transposed
            int64_t M, int64_t N, int64_t K, MatmulOptions options, cudaStream_t stream);

void add_bias_rows(float* y,           // (rows, cols)
                   const float* bias,  // (cols)
                   int64_t rows, int64_t cols, cudaStream_t stream);

// ---- convolution (conv.cu)

void conv2d(float* y,           // (N, O, Ho, Wo)
            const float* x,     // (N, C, H, W)
            const float* w,     // (O, C, kernel, kernel)
            const float* bias,  // (O), or null
            ImageExtents in, int64_t O, Window window, cudaStream_t stream);

void conv2d_backward_input(float* dx,       // (N, C, H, W)
                           const float* g,  // (N, O, Ho, Wo)
                           const float* w,  // (O, C, kernel, kernel)
                           ImageExtents in, int64_t O, Window window,
                           cudaStream_t stream);

void conv2d_backward_weight(float* dw,       // (O, C, kernel, kernel)
                            float* dbias,    // (O), or null
                            const float* g,  // (N, O, Ho, Wo)
                            const float* x,  // (N, C, H, W)
                            ImageExtents in, int64_t O, Window window,
                            cudaStream_t stream);

// ---- pooling (pool.cu)

void max_pool2d(float* y,          // (N, C, Ho, Wo)
                int32_t* indices,  // (N, C, Ho, Wo)
                const float* x,    // (N, C, H, W)
                ImageExtents in, Window window, cudaStream_t stream);

void max_pool2d_backward(float* dx,               // (N, C, H, W)
                         const float* g,          // (N, C, Ho, Wo)
                         const int32_t* indices,  // (N, C, Ho, Wo)
                         ImageExtents in, Window window, cudaStream_t stream);

// ---- average pooling (avg_pool.cu)

void avg_pool2d(float* y,        // (N, C, |rows|, |cols|)
                const float* x,  // (N, C, H, W)
                ImageExtents in, std::span<const PoolSpan> rows,
                std::span<const PoolSpan> cols, cudaStream_t stream);

void avg_pool2d_backward(float* dx,       // (N, C, H, W)
                         const float* g,  // (N, C, |rows|, |cols|)
                         ImageExtents in, std::span<const PoolSpan> rows,
                         std::span<const PoolSpan> cols, cudaStream_t stream);

// ---- batch normalisation (norm.cu)

void channel_moments(float* mean,      // (C)
                     float* variance,  // (C)
                     const float* x,   // (N, C, space)
                     ChannelExtents extents, cudaStream_t stream);

void batch_norm(float* y,               // (N, C, space)
                const float* x,         // (N, C, space)
                const float* mean,      // (C)
                const float* variance,  // (C)
                const float* weight,    // (C), or null for ones
                const float* bias,      // (C), or null for zeros
                ChannelExtents extents, double eps, cudaStream_t stream);

void batch_norm_backward(float* dx,              // (N, C, space)
                         float* dweight,         // (C)
                         float* dbias,           // (C)
                         const float* g,         // (N, C, space)
                         const float* x,         // (N, C, space)
                         const float* mean,      // (C)
                         const float* variance,  // (C)
                         const float* weight,    // (C), or null for ones
                         ChannelExtents extents, BatchNormBackward options,
                         cudaStream_t stream);

/// Updates the running statistics from a batch with n values per channel, in double:
///     mean     = (1 - momentum) mean + momentum batch_mean
///     variance = (1 - momentum) variance + momentum batch_variance n / (n - 1)
/// (`torch.nn.BatchNorm2d`).
void update_running(float* mean,                  // (C)
                    float* variance,              // (C)
                    const float* batch_mean,      // (C)
                    const float* batch_variance,  // (C)
                    int64_t C, int64_t n, double momentum, cudaStream_t stream);

// ---- softmax (softmax.cu)

void log_softmax(float* y,        // (rows, cols)
                 const float* x,  // (rows, cols)
                 int64_t rows, int64_t cols, cudaStream_t stream);

void log_softmax_backward(float* dx,       // (rows, cols)
                          const float* g,  // (rows, cols)
                          const float* y,  // (rows, cols), log_softmax's result
                          int64_t rows, int64_t cols, cudaStream_t stream);

// ---- optimizers (optim.cu)

void sgd_step(float* parameter,   // (n)
              float* velocity,    // (n), or null
              const float* grad,  // (n)
              int64_t n, SGDStep step, cudaStream_t stream);

void adam_step(float* parameter,       // (n)
               float* exp_avg,         // (n)
               float* exp_avg_sq,      // (n)
               float* max_exp_avg_sq,  // (n), or null
               const float* grad,      // (n)
               int64_t n, AdamStep step, cudaStream_t stream);

/// The arrays of one parameter, as for sgd_step.
struct SGDTensor {
    float* parameter = nullptr;   // (n)
    float* velocity = nullptr;    // (n), or null
    const float* grad = nullptr;  // (n)
    int64_t n = 0;
};
/// The arrays of one parameter, as for adam_step.
struct AdamTensor {
    float* parameter = nullptr;       // (n)
    float* exp_avg = nullptr;         // (n)
    float* exp_avg_sq = nullptr;      // (n)
    float* max_exp_avg_sq = nullptr;  // (n), or null
    const float* grad = nullptr;      // (n)
    int64_t n = 0;
};

/// One step for all parameters, in a few launches. The results are bitwise identical to
/// one call per parameter (`foreach=True`, `fused=True` of torch.optim).
void sgd_steps(std::span<const SGDTensor> tensors, SGDStep step, cudaStream_t stream);
void adam_steps(std::span<const AdamTensor> tensors, AdamStep step, cudaStream_t stream);

// ---- losses (losses.cu)

void nll(float* losses,          // (rows)
         const float* x,         // (rows, cols), logarithms of probabilities
         const int64_t* target,  // (rows)
         int64_t rows, int64_t cols, cudaStream_t stream);

void nll_backward(float* dx,              // (rows, cols)
                  const float* g,         // (rows)
                  const int64_t* target,  // (rows)
                  int64_t rows, int64_t cols, cudaStream_t stream);

void binary_cross_entropy(float* losses,   // (n)
                          const float* p,  // (n), in [0, 1]
                          const float* t,  // (n)
                          int64_t n, cudaStream_t stream);

void binary_cross_entropy_backward(float* dp,       // (n)
                                   const float* g,  // (n)
                                   const float* p,  // (n)
                                   const float* t,  // (n)
                                   int64_t n, cudaStream_t stream);

// ---- random numbers (dropout.cu)

/// The state of a Philox 4x32-10 generator. Element i uses word i mod 4 of subsequence i
/// / 4 at `offset`, which is a multiple of 4. A call draws up to 4 words of each
/// subsequence, so the next call needs an offset greater by 4 (`torch.cuda.Generator`).
struct PhiloxState {
    uint64_t seed = 0;
    uint64_t offset = 0;
};

/// out[i] = the random word of element i.
void fill_philox(uint32_t* out,  // (n)
                 int64_t n, PhiloxState state, cudaStream_t stream);

/// out[i] = `value` with the given probability, else 0.
void fill_bernoulli(float* out,  // (n)
                    int64_t n, double probability, float value, PhiloxState state,
                    cudaStream_t stream);

/// mask[i] = 0 with probability p, else 1 / (1 - p); y = x * mask
/// (`torch.nn.functional.dropout`). The gradient is g * mask.
void dropout(float* y,        // (n)
             float* mask,     // (n)
             const float* x,  // (n)
             int64_t n, double p, PhiloxState state, cudaStream_t stream);

// ---- PowerSGD (orthogonalize.cu)

/// Makes the columns orthonormal, one after the other; divides by a column's length plus
/// `epsilon`. A column becomes zero if it is, except for rounding errors, a linear
/// combination of the columns before it. Dot products are in double.
void orthogonalize(float* values,  // (n, r)
                   int64_t n, int64_t r, double epsilon, cudaStream_t stream);

}  // namespace mini::kernels::cuda
