// What the checks of lab 06 call: functions of its .cu files, which say what they compute.
// All arrays are on the device, and no function waits for its kernels.

#pragma once

#include <cstdint>

#include "libmini/extras/cudasim/api.hpp"

// relu.cu
void relu_runs(float* out, const float* x, int64_t n, cudaStream_t stream);
void relu_each(float* out, const float* x, int64_t n, cudaStream_t stream);
void relu_grid_stride(float* out, const float* x, int64_t n, unsigned grid,
                      cudaStream_t stream);

// sum.cu
void sum_divergent(float* out, const float* x, int64_t n);
void sum_interleaved(float* out, const float* x, int64_t n);
void sum_sequential(float* out, const float* x, int64_t n);
void sum_first_add(float* out, const float* x, int64_t n);
void sum_shuffle(float* out, const float* x, int64_t n);
void sum_atomic(float* out, const float* x, int64_t n);

// matmul.cu
struct Matrix {
    const float* data;
    int64_t rows, cols;
    int64_t row_step, col_step;
};
struct Product {
    float* out;
    Matrix a, b;
    bool accumulate;
};
void matmul_naive(const Product& product);
void matmul_coalesced(const Product& product);
void matmul_tiled(const Product& product);
void matmul_registers(const Product& product);

// softmax.cu
void log_softmax(float* y, const float* x, int64_t rows, int64_t cols);
void log_softmax_online(float* y, const float* x, int64_t rows, int64_t cols);
