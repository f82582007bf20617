// A ladder of matrix products, out = a b: the same sums in another order of the loops.
//
//     variant      loops         the innermost loop
//     naive        i, j, k       reads a column of b: N floats from one to the next
//     reordered    i, k, j       reads a row of b, and adds to a row of out
//     blocked      j0, i, k, j   reads a row of a panel of b, 32 columns that were copied
//                                into order, and adds to 32 sums in registers
//     Eigen        matmul.cpp    the same, for several rows of a at once
//
// Lab 02 measures them; the library multiplies with the last variant, matmul of
// kernels.hpp. Each replaces whatever out contains; with K = 0 all elements are 0.
//
// Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication".

#pragma once

#include <cstdint>

namespace mini::kernels::cpu {

/// out = a b, one element of out after the other.
void matmul_naive(float* out,      // (M, N)
                  const float* a,  // (M, K)
                  const float* b,  // (K, N)
                  int64_t M, int64_t N, int64_t K);

/// out = a b: each element of a times its row of b, added to a row of out.
void matmul_reordered(float* out,      // (M, N)
                      const float* a,  // (M, K)
                      const float* b,  // (K, N)
                      int64_t M, int64_t N, int64_t K);

/// out = a b: one panel of 32 columns of b after the other, with its sums in registers;
/// the last panel may be narrower.
void matmul_blocked(float* out,      // (M, N)
                    const float* a,  // (M, K)
                    const float* b,  // (K, N)
                    int64_t M, int64_t N, int64_t K);

}  // namespace mini::kernels::cpu
