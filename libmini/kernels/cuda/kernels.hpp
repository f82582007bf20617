// The same arithmetic on a GPU: the contracts of kernels.hpp, on device
// memory, in stream order.
//
// Pointers are to memory of the stream's device; extents and spans are in host memory. A
// call returns once the work is in the stream. The order of a summation depends only on
// the extents, so repeated runs are bitwise identical; sums differ from the CPU's in the
// last digits.

#pragma once

#include <atomic>
#include <cstdint>

#include "libmini/core/dtype.hpp"
#include "libmini/kernels/gpu.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cuda {

/// A function with the parameters of a kernel of the CPU, and a stream:
/// `OnGpu<cpu::fill> fill` declares void fill(float* out, float value, int64_t n,
/// cudaStream_t stream).
template <typename Function>
struct WithStream;
template <typename... Parameters>
struct WithStream<void (*)(Parameters...)> {
    using type = void(Parameters..., cudaStream_t stream);
};
template <auto kCpu>
using OnGpu = typename WithStream<decltype(kCpu)>::type;

// elementwise.cu
OnGpu<cpu::binary> binary;
OnGpu<cpu::unary> unary;
OnGpu<cpu::relu_backward> relu_backward;
OnGpu<cpu::axpy> axpy;
OnGpu<cpu::scale> scale;
OnGpu<cpu::fill> fill;

// element_types.cu

/// out[i] = x[i] converted by convert_element().
void convert(void* out,      // (n) of type `to`
             const void* x,  // (n) of type `from`
             int64_t n, DType to, DType from, cudaStream_t stream);

/// out[i] = value, converted by convert_element().
void fill_elements(void* out,  // (n) of type `type`
                   double value, int64_t n, DType type, cudaStream_t stream);

/// x[i] += 1.
void increment(int64_t* x,  // (n)
               int64_t n, cudaStream_t stream);

// strided.cu, for items of 1, 2, 4 or 8 bytes
OnGpu<cpu::copy_strided> copy_strided;
OnGpu<cpu::copy_to_strided> copy_to_strided;

// reduce.cu
OnGpu<cpu::sum> sum;
OnGpu<cpu::argmax> argmax;

// embedding.cu; an index outside the table gives NaN, and no gradient
OnGpu<cpu::embedding> embedding;
OnGpu<cpu::embedding_backward> embedding_backward;

// matmul_cublas.cpp; matmul.cu in builds without cuBLAS
OnGpu<cpu::matmul> matmul;

/// Whether cuBLAS may round a and b to tf32 (`torch.backends.cuda.matmul.allow_tf32`).
inline std::atomic<bool> allow_tf32 = false;

// conv.cu
OnGpu<cpu::conv2d> conv2d;
OnGpu<cpu::conv2d_backward_input> conv2d_backward_input;
OnGpu<cpu::conv2d_backward_weight> conv2d_backward_weight;

// pool.cu
OnGpu<cpu::max_pool2d> max_pool2d;
OnGpu<cpu::max_pool2d_backward> max_pool2d_backward;

// norm.cu
OnGpu<cpu::channel_moments> channel_moments;
OnGpu<cpu::batch_norm> batch_norm;
OnGpu<cpu::batch_norm_backward> batch_norm_backward;

// softmax.cu
OnGpu<cpu::log_softmax> log_softmax;
OnGpu<cpu::log_softmax_backward> log_softmax_backward;

/// loss[0] = the sum of the cross-entropies of all rows, divided by `divisor`; NaN if a
/// target is not a class. dx = dloss/dx. Does the work of several kernels, because a
/// launch takes a GPU longer than a small kernel runs.
void cross_entropy(float* loss,            // (1)
                   float* dx,              // (rows, cols)
                   const float* x,         // (rows, cols), class scores
                   const int64_t* target,  // (rows)
                   int64_t rows, int64_t cols, float divisor, cudaStream_t stream);

// losses.cu
OnGpu<cpu::nll> nll;
OnGpu<cpu::nll_backward> nll_backward;
OnGpu<cpu::binary_cross_entropy> binary_cross_entropy;
OnGpu<cpu::binary_cross_entropy_backward> binary_cross_entropy_backward;

// optim.cu
OnGpu<cpu::sgd_step> sgd_step;
OnGpu<cpu::adam_step> adam_step;

// dropout.cu

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

}  // namespace mini::kernels::cuda
