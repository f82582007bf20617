// Two sums by trees that waste what a GPU has, and what all sums use. The first four sums of the lab
// follow M. Harris, "Optimizing Parallel Reduction in CUDA" (2007).
//
// The tree of 8 threads, twice: who adds what.
//
//     divergent: every 2nd, 4th, ... thread     interleaved: the first threads
//     thread  0   1   2   3   4   5   6   7     thread  0   1   2   3   4   5   6   7
//     adds    ab      cd      ef      gh        adds    ab  cd  ef  gh
//             abcd            efgh                      abcd efgh
//             all                                       all

#include <cstdint>

#include "labs/06-cuda-kernels/kernels.hpp"

namespace {

constexpr int kThreads = 256;  // of a block

// Returns this thread's element, one per thread of the grid, or 0 past the end.
__device__ float one_element(const float* x, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    return i < n ? x[i] : 0.0f;
}

__global__ void divergent_kernel(float* out, const float* x, int64_t n) {
    __shared__ float part[kThreads];
    const int t = static_cast<int>(threadIdx.x);
    part[t] = one_element(x, n);
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        if (t % (2 * step) == 0) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void interleaved_kernel(float* out, const float* x, int64_t n) {
    __shared__ float part[kThreads];
    const int t = static_cast<int>(threadIdx.x);
    part[t] = one_element(x, n);
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        const int i = 2 * step * t;
        if (i < kThreads) part[i] += part[i + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

}  // namespace

void sum_by_blocks(SumKernel kernel, int64_t per_block, float* out, const float* x,
                   int64_t n) {
    const int64_t blocks = n == 0 ? 1 : (n + per_block - 1) / per_block;
    if (blocks == 1) {
        kernel<<<1, kThreads>>>(out, x, n);
        return;
    }
    float* of_block;
    cudaMalloc(&of_block, blocks * sizeof(float));
    kernel<<<static_cast<unsigned>(blocks), kThreads>>>(of_block, x, n);
    sum_by_blocks(kernel, per_block, out, of_block, blocks);
    cudaFree(of_block);
}

void sum_divergent(float* out, const float* x, int64_t n) {
    sum_by_blocks(divergent_kernel, kThreads, out, x, n);
}
void sum_interleaved(float* out, const float* x, int64_t n) {
    sum_by_blocks(interleaved_kernel, kThreads, out, x, n);
}
