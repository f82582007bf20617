// The part of cuBLASLt that small programs use: one product, then a bias and a function.

#pragma once

#include "cublas_v2.h"

// clang-format off
enum cublasLtEpilogue_t {
    CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36
};
enum cublasLtMatmulDescAttributes_t {
    CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_EPILOGUE,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES };
// clang-format on
struct cublasLtMatmulDescOpaque {
    cudaDataType scalar;
    cublasOperation_t of_a = CUBLAS_OP_N, of_b = CUBLAS_OP_N;
    cublasLtEpilogue_t then = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;
};
struct cublasLtMatrixLayoutOpaque {
    cudaDataType type;
    int rows, columns;
    int64_t stride;
};
struct cublasLtMatmulHeuristicResult_t {
    int algo;
};
using cublasLtHandle_t = cublasHandle_t;
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque*;
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque*;
using cublasLtMatmulPreference_t = void*;
using cublasLtMatmulAlgo_t = int;

#define cublasLtCreate cublasCreate
#define cublasLtDestroy cublasDestroy
#define cublasLtMatmulPreferenceCreate mini::cuda::blas_nothing
#define cublasLtMatmulPreferenceSetAttribute mini::cuda::blas_nothing
#define cublasLtMatmulPreferenceDestroy mini::cuda::blas_nothing
#define cublasLtMatmulDescCreate(to, compute, scalar) \
    (*(to) = new cublasLtMatmulDescOpaque{scalar}, CUBLAS_STATUS_SUCCESS)
#define cublasLtMatrixLayoutCreate(to, type, rows, cols, ld) \
    (*(to) = new cublasLtMatrixLayoutOpaque{type, int(rows), int(cols), int64_t(ld)}, \
     CUBLAS_STATUS_SUCCESS)
#define cublasLtMatmulDescDestroy cublasDestroy
#define cublasLtMatrixLayoutDestroy cublasDestroy
inline cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t attribute, const void* value,
    size_t bytes) {
    void* const places[] = {&to->of_a, &to->of_b, &to->then, &to->bias};
    memcpy(places[attribute], value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}
/// There is one algorithm.
#define cublasLtMatmulAlgoGetHeuristic(lt, how, a, b, c, d, preference, n, results, found) \
    (*(found) = 1, CUBLAS_STATUS_SUCCESS)
/// Refuses a c that is not d.
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t how,
                                     const void* alpha, const void* a,
                                     cublasLtMatrixLayout_t of_a, const void* b,
                                     cublasLtMatrixLayout_t of_b, const void* beta,
                                     const void* c, cublasLtMatrixLayout_t, void* d,
                                     cublasLtMatrixLayout_t of_d,
                                     const cublasLtMatmulAlgo_t*, void*, size_t,
                                     cudaStream_t stream) {
    if (c != d) return CUBLAS_STATUS_INVALID_VALUE;
    return mini::cuda::blas_enqueue(
        stream, {.a = {a, of_a->type, of_a->stride, 0, how->of_a},
                 .b = {b, of_b->type, of_b->stride, 0, how->of_b},
                 .c = {d, of_d->type, of_d->stride},
                 .size = {of_d->rows, of_d->columns,
                          how->of_a == CUBLAS_OP_N ? of_a->columns : of_a->rows},
                 .alpha = mini::cuda::BlasMatrix{alpha, how->scalar}.value(),
                 .beta = mini::cuda::BlasMatrix{beta, how->scalar}.value(),
                 .bias = how->then & CUBLASLT_EPILOGUE_BIAS ? how->bias : nullptr,
                 .gelu = (how->then & CUBLASLT_EPILOGUE_GELU) != 0});
}
