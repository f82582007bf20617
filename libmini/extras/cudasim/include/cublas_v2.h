// The part of cuBLAS that small programs use: products of matrices, one thread for each
// result. Sums are kept in double.

#pragma once

#include <array>

#include "cuda_fp16.h"

#define CUBLAS_API_H_

// clang-format off
enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH, CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR,
    CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_LICENSE_ERROR
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cudaDataType { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_16BF = 14 };
// clang-format on
using cudaDataType_t = cudaDataType;
using cublasHandle_t = struct cublasContext*;
struct cublasContext {
    cudaStream_t stream = nullptr;
};

namespace mini::cuda {

// A column-major matrix, of which batch i begins i * step elements later.
struct BlasMatrix {
    const void* data;
    cudaDataType type;
    long long stride = 0, step = 0;
    cublasOperation_t operation = CUBLAS_OP_N;

    // Calls use(element) with its type.
    void at(int row, int column, unsigned batch, auto use) const {
        if (operation != CUBLAS_OP_N) std::swap(row, column);
        const long long i = column * stride + row + batch * step;
        void* const all = const_cast<void*>(data);
        if (type == CUDA_R_32F) use(static_cast<float*>(all)[i]);
        if (type == CUDA_R_64F) use(static_cast<double*>(all)[i]);
        if (type == CUDA_R_16F) use(static_cast<__half*>(all)[i]);
        if (type == CUDA_R_16BF) use(static_cast<__nv_bfloat16*>(all)[i]);
    }
    double value(int row = 0, int column = 0, unsigned batch = 0) const {
        double value = 0;
        at(row, column, batch, [&](auto& element) { value = element; });
        return value;
    }
};

struct BlasProduct {
    BlasMatrix a, b, c;
    std::array<int, 3> size;  // m, n, k
    double alpha, beta;
    const void* bias = nullptr;  // then added to each row, of the type of c
    bool gelu = false;           // then
};

__global__ inline void blas_multiply(BlasProduct p) {
    const mini::sim::Coordinates& self = mini::sim::running();
    const int i = static_cast<int>(self.block_index.x * 128 + self.thread_index.x);
    const auto [m, n, k] = p.size;
    if (i >= m * n) return;
    const int row = i % m, column = i / m;
    const unsigned batch = self.block_index.y;
    double sum = 0;
    for (int j = 0; j < k; ++j)
        sum += p.a.value(row, j, batch) * p.b.value(j, column, batch);
    sum *= p.alpha;
    if (p.beta != 0) sum += p.beta * p.c.value(row, column, batch);
    if (p.bias != nullptr) sum += BlasMatrix{p.bias, p.c.type}.value(row);
    if (p.gelu)
        sum *= 0.5 +
               0.5 * std::tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum));
    p.c.at(row, column, batch, [&](auto& element) {
        element = static_cast<std::decay_t<decltype(element)>>(sum);
    });
}

inline cublasStatus_t blas_enqueue(cudaStream_t stream, const BlasProduct& p,
                                   int batches = 1) {
    const auto [m, n, k] = p.size;
    if (m < 0 || n < 0 || k < 0 || batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
    const dim3 grid((static_cast<unsigned>(m * n) + 127) / 128,
                    static_cast<unsigned>(batches));
    const auto error =
        enqueue_body({grid, 128, 0, stream}, reinterpret_cast<const void*>(blas_multiply),
                     [p]() MINI_UNCHECKED { blas_multiply(p); });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

inline cublasStatus_t blas_nothing(auto...) { return CUBLAS_STATUS_SUCCESS; }

}  // namespace mini::cuda

#define cublasCreate(handle) (*(handle) = new cublasContext, CUBLAS_STATUS_SUCCESS)
#define cublasDestroy(handle) (delete (handle), CUBLAS_STATUS_SUCCESS)
#define cublasSetStream(handle, to) ((handle)->stream = (to), CUBLAS_STATUS_SUCCESS)
#define cublasSetMathMode mini::cuda::blas_nothing

#define MINI_SHAPE                                                               \
    cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, \
        int n, int k
inline cublasStatus_t cublasGemmStridedBatchedEx(
    MINI_SHAPE, const void* alpha, const void* a, cudaDataType type_a, int lda,
    long long step_a, const void* b, cudaDataType type_b, int ldb, long long step_b,
    const void* beta, void* c, cudaDataType type_c, int ldc, long long step_c,
    int batches, cublasComputeType_t compute, cublasGemmAlgo_t = CUBLAS_GEMM_DEFAULT) {
    const cudaDataType scalar = compute == CUBLAS_COMPUTE_16F   ? CUDA_R_16F
                                : compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F
                                                                : CUDA_R_32F;
    return mini::cuda::blas_enqueue(handle->stream,
                                    {{a, type_a, lda, step_a, of_a},
                                     {b, type_b, ldb, step_b, of_b},
                                     {c, type_c, ldc, step_c},
                                     {m, n, k},
                                     mini::cuda::BlasMatrix{alpha, scalar}.value(),
                                     mini::cuda::BlasMatrix{beta, scalar}.value()},
                                    batches);
}

// With a type each.
#define MINI_BLAS(letter, T, type, compute)                                              \
    inline cublasStatus_t cublas##letter##gemmStridedBatched(                            \
        MINI_SHAPE, const T* alpha, const T* a, int lda, long long step_a, const T* b,   \
        int ldb, long long step_b, const T* beta, T* c, int ldc, long long step_c,       \
        int batches) {                                                                   \
        return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, alpha, a, type,   \
                                          lda, step_a, b, type, ldb, step_b, beta, c,    \
                                          type, ldc, step_c, batches, compute);          \
    }                                                                                    \
    inline cublasStatus_t cublas##letter##gemm(MINI_SHAPE, const T* alpha, const T* a,   \
                                               int lda, const T* b, int ldb,             \
                                               const T* beta, T* c, int ldc) {           \
        return cublas##letter##gemmStridedBatched(handle, of_a, of_b, m, n, k, alpha, a, \
                                                  lda, 0, b, ldb, 0, beta, c, ldc, 0, 1); \
    }
MINI_BLAS(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
MINI_BLAS(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
