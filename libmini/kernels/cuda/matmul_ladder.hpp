// The rungs of the ladder, and the arguments that matmul.cpp passes to them.
//
// A transposed matrix is the same memory with its strides swapped, so each matrix is
// passed with two strides: row_step between adjacent elements of a column, and col_step
// between adjacent elements of a row.
//
//     stored (rows, cols)       row_step = cols   col_step = 1
//     stored (cols, rows)       row_step = 1      col_step = rows

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {

/// A factor of the product in device memory. `rows` and `cols` are the extents in the
/// product, after any transposition.
struct Matrix {
    const float* data;
    int64_t rows, cols;
    int64_t row_step, col_step;
};

/// out = a b, or out += a b; a is (M, K), b is (K, N), out is (M, N) and contiguous.
struct Product {
    float* out;
    Matrix a, b;
    bool accumulate;
};

// Each rung REQUIRES: M, N and K are not 0. (matmul_on() of matmul.hpp has no launch
// then.)
void matmul_naive(const Product& product, cudaStream_t stream);
void matmul_coalesced(const Product& product, cudaStream_t stream);
void matmul_tiled(const Product& product, cudaStream_t stream);
void matmul_registers(const Product& product, cudaStream_t stream);
void matmul_cublas(const Product& product, bool allow_tf32, cudaStream_t stream);

/// Returns whether this build has cuBLAS (matmul_cublas.cpp; otherwise no_cublas.cpp).
bool has_cublas();

}  // namespace mini::kernels::cuda
