// What lab 06 computes. All arrays are float32 in device memory; those of one function do not
// overlap. A function launches its kernels, and may return before they have run.
//
// The simulator counts what each access by a warp needs: sectors of 32 bytes in global memory,
// and passes over the 32 banks of shared memory. Two words of the contracts are about that:
//
//     coalesced      no access needs more sectors than its bytes fill, if rows begin at
//                    multiples of 32 bytes
//     no conflicts   no access to shared memory needs a second pass

#pragma once

#include <cassert>
#include <cstdint>

#if defined(__CUDACC__) && !defined(MINI_TODO)  // a gap; libmini has its own
#define MINI_TODO(task, title) assert(!"[" task "] not started: " title)
#endif

using cudaStream_t = struct CUstream_st*;  // as CUDA declares it

// ---- relu.cu: out[i] = 0 if x[i] < 0, else x[i], so NaN stays NaN. out and x are (n). Blocks
// have 256 threads; thread t is number t of the whole grid.
//
//     function      thread t computes                      a warp reads at a time
//     runs          elements 8 t to 8 t + 7                32 floats, 32 bytes apart
//     each          element t                              32 adjacent floats
//     grid_stride   elements t, t + T, t + 2 T, ...        32 adjacent floats
//                   where T is the number of threads
//
// runs and each launch as many blocks as are needed, and no more; none if n is 0. Each works
// in `stream`, and writes each element once.

/// Each load fetches 8 times the sectors that would hold its bytes.
void relu_runs(float* out, const float* x, int64_t n, cudaStream_t stream);

/// Coalesced; a thread loads one float.
void relu_each(float* out, const float* x, int64_t n, cudaStream_t stream);

/// Launches `grid` blocks for any n. Coalesced.
void relu_grid_stride(float* out, const float* x, int64_t n, unsigned grid,
                      cudaStream_t stream);

// ---- trees.cu, which is given

/// A kernel that adds a part of x (n) in each of its blocks of 256 threads: block b writes the
/// sum of its part to out[b]. Without elements it writes 0.
using SumKernel = void (*)(float* out, const float* x, int64_t n);

/// Sums x (n) to out (1), by blocks that add `per_block` elements each, the last one fewer; then
/// the sums of the blocks in the same way, until one is left. n may be 0: one block runs.
void sum_by_blocks(SumKernel kernel, int64_t per_block, float* out, const float* x,
                   int64_t n);

void sum_divergent(float* out, const float* x, int64_t n);
void sum_interleaved(float* out, const float* x, int64_t n);

// ---- sum.cu: out[0] = the sum of x (n). n may be 0: the sum is 0. Blocks have 256 threads.
// Coalesced, no conflicts.
//
//     function     a block sums           by
//     sequential   256 elements           a tree in shared memory whose halves are added
//     first_add    2048 elements          8 elements in each thread, then this tree
//     shuffle      2048 elements          8 elements in each thread, then shuffles
//     atomic       2048 elements          as shuffle; the blocks add to out by atomicAdd
//
// The first three sum the sums of their blocks in the same way (sum_by_blocks). In these the
// order of the additions depends only on n, so that repeated sums have the same bits.

/// The tree of 8 threads:   a    b    c    d    e    f    g    h
///                          ae   bf   cg   dh
///                          aecg bfdh
///                          all
/// In each of its 8 steps only the warps load that have something to add.
void sum_sequential(float* out, const float* x, int64_t n);

/// A thread loads one float at a time: a warp loads 8 times.
void sum_first_add(float* out, const float* x, int64_t n);

/// A block of 8 warps stores 8 sums in shared memory, each once; each warp loads from there at
/// most once; there is one barrier.
void sum_shuffle(float* out, const float* x, int64_t n);

/// One launch, and one atomicAdd for each block; no launch if n is 0.
void sum_atomic(float* out, const float* x, int64_t n);

// ---- matmul.cu: out = a b, or out += a b

/// A factor. Element (i, j) is data[i * row_step + j * col_step]; `rows` and `cols` are those
/// in the product. A factor may be stored transposed: the same memory with its steps swapped.
///
///     stored (rows, cols)    row_step = cols   col_step = 1
///     stored (cols, rows)    row_step = 1      col_step = rows
struct Matrix {
    const float* data;
    int64_t rows, cols;
    int64_t row_step, col_step;
};

/// a is (M, K), b is (K, N), out is (M, N) and stored by rows. None of M, N and K is 0.
struct Product {
    float* out;
    Matrix a, b;
    bool accumulate;  // out += a b
};

// Each element is summed by one thread, in the order of k. Nothing past the edges of a, b and
// out is read or written. A grid has at most 65,535 blocks in y and z, and more in x.
//
//     function    a thread computes   what a warp or a block reads
//     naive       1 element           a warp: for each k 32 floats of a column of a
//     coalesced   1 element           a warp: for each k one float of a, 32 adjacent ones of b
//     tiled       1 element           a block: 32 x 32 floats of a and of b, each once
//     registers   4 x 4 elements      a block: 64 x 16 floats of a and 16 x 64 of b, each once

/// The lanes of a warp compute 32 adjacent elements of a column of out.
void matmul_naive(const Product& product);

/// The lanes of a warp compute 32 adjacent elements of a row of out. Coalesced, if the factors are
/// stored (rows, cols).
void matmul_coalesced(const Product& product);

/// A block computes 32 x 32 elements, in steps of 32 along K, with at most two barriers in a
/// step. Coalesced and no conflicts, even if a factor is stored transposed.
void matmul_tiled(const Product& product);

/// A block of 256 threads computes 64 x 64 elements, in steps of 16 along K, with at most two
/// barriers in a step. For each k a thread loads its 4 floats of a and its 4 of b by one float4
/// each, and it stores 4 elements by one float4 if N is a multiple of 4. Coalesced, even if a
/// factor is stored transposed; no conflicts if a is.
void matmul_registers(const Product& product);

// ---- softmax.cu: y[i][j] = x[i][j] - log(sum over k of exp(x[i][k])). x and y are (rows, cols),
// of which none is 0.
//
// Each row is computed by one warp. Coalesced; no shared memory, no barrier. No row of finite
// numbers overflows. An element of -inf gives -inf, and the others are what they would be without
// it, if one of them is finite. A row with a NaN is NaN.

/// Reads a row three times.
void log_softmax(float* y, const float* x, int64_t rows, int64_t cols);

/// Reads a row twice.
void log_softmax_online(float* y, const float* x, int64_t rows, int64_t cols);
