// The sum of an array, in six variants, each of which removes one cost of the variant
// before it. The first four follow M. Harris, "Optimizing Parallel Reduction in CUDA"
// (2007), in whose fourth each thread adds 2 elements, and in whose last it adds many;
// shuffles are from J. Luitjens, "Faster Parallel Reductions on Kepler" (2014). (The
// library's own sum is in reduce.cu.)
//
//     variant      a block of 256 threads
//     divergent    a tree in shared memory; every 2nd, 4th, 8th, ... thread adds
//     interleaved  the same tree, by the first threads: bank conflicts
//     sequential   a tree whose halves are added: no conflicts
//     first_add    each thread adds 8 elements before the tree
//     shuffle      warps exchange registers instead of shared memory
//     atomic       the blocks' sums are added by atomicAdd: in any order
//
// A block writes one sum; the blocks' sums are summed in the same way, until one is left.
// Except for `atomic`, the order of the additions depends only on n, so that repeated
// sums are bitwise identical.
//
// All variants: out (1), x (n). n may be 0: the sum is 0.

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {

void sum_divergent(float* out, const float* x, int64_t n, cudaStream_t stream);
void sum_interleaved(float* out, const float* x, int64_t n, cudaStream_t stream);
void sum_sequential(float* out, const float* x, int64_t n, cudaStream_t stream);
void sum_first_add(float* out, const float* x, int64_t n, cudaStream_t stream);
void sum_shuffle(float* out, const float* x, int64_t n, cudaStream_t stream);
void sum_atomic(float* out, const float* x, int64_t n, cudaStream_t stream);

}  // namespace mini::kernels::cuda
