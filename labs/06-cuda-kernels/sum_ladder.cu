// The tree of 8 threads, twice: who adds what.
//
//     interleaved                            sequential
//     a   b   c   d   e   f   g   h          a   b   c   d   e   f   g   h
//     ab      cd      ef      gh             ae  bf  cg  dh
//     abcd            efgh                   aecg  bfdh
//     all                                    all
//
// Traffic: x is read once. The sums of the blocks add 1/256, or 1/2048 if a thread adds 8
// elements first.

#include "labs/06-cuda-kernels/sum_ladder.hpp"

#include <algorithm>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/scratch.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::ceil_div;
using mini::cuda::launch;

constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kPerThread = 8;  // elements that a thread adds first
constexpr unsigned kAllLanes = 0xffffffffu;

// ---- device functions

// Returns this thread's element, one per thread of the grid, or 0 past the end.
__device__ float one_element(const float* x, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    return i < n ? x[i] : 0.0f;
}

// Returns the sum of kPerThread of the block's kThreads * kPerThread elements, without
// elements past the end. Adjacent threads read adjacent elements.
__device__ float first_add(const float* x, int64_t n) {
    const int64_t begin = int64_t{blockIdx.x} * kThreads * kPerThread;
    float total = 0.0f;
    // [lab06.3] Add elements before the tree begins.
    for (int k = 0; k < kPerThread; ++k) {
        const int64_t i = begin + k * kThreads + threadIdx.x;
        if (i < n) total += x[i];
    }
    // [lab06.3]
    return total;
}

// Sums part, which has one element per thread in shared memory, to part[0]. All threads
// of the block call it; part is written, but no barrier has followed. Afterwards thread 0
// may read part[0].
__device__ void sequential_tree(float* part) {
    const int t = static_cast<int>(threadIdx.x);
    // [lab06.3] Add the upper half to the lower half, until one element is left.
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    // [lab06.3]
}

// Returns the sum of the values of the warp's 32 lanes, in every lane. All lanes call it.
__device__ float warp_sum(float value) {
    // [lab06.3] Exchange values with the lane that differs in one bit.
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(kAllLanes, value, step);
    // [lab06.3]
    return value;
}

// Returns the sum of the values of the block's threads, in every thread, with one
// barrier: each warp stores its sum, and loads the sums of all warps at once, one per
// lane. All threads call it, once per kernel.
__device__ float block_sum(float value) {
    __shared__ float of_warp[kWarps];
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    // [lab06.3] Sum each warp, then the sums of the warps.
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    value = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
    // [lab06.3]
    return value;
}

// ---- the rungs: out has one sum per block

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

__global__ void sequential_kernel(float* out, const float* x, int64_t n) {
    __shared__ float part[kThreads];
    part[threadIdx.x] = one_element(x, n);
    sequential_tree(part);
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void first_add_kernel(float* out, const float* x, int64_t n) {
    __shared__ float part[kThreads];
    part[threadIdx.x] = first_add(x, n);
    sequential_tree(part);
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void shuffle_kernel(float* out, const float* x, int64_t n) {
    const float total = block_sum(first_add(x, n));
    if (threadIdx.x == kThreads - 1) out[blockIdx.x] = total;  // every thread has it
}

__global__ void atomic_kernel(float* out, const float* x, int64_t n) {
    const float total = block_sum(first_add(x, n));
    if (threadIdx.x == kThreads - 1) atomicAdd(out, total);
}

using SumKernel = void (*)(float*, const float*, int64_t);

// Sums `per_block` elements per block, then the sums of the blocks in the same way.
void sum_with(SumKernel kernel, int64_t per_block, float* out, const float* x, int64_t n,
              cudaStream_t stream) {
    const int64_t count = std::max<int64_t>(1, ceil_div(n, per_block));
    const Scratch<float> partial(count == 1 ? 0 : count, stream);
    float* const to = count == 1 ? out : partial.get();
    launch(kernel, {.grid = blocks(count, 1), .block = kThreads}, stream, to, x, n);
    if (count > 1) sum_with(kernel, per_block, out, to, count, stream);
}

}  // namespace

void sum_divergent(float* out, const float* x, int64_t n, cudaStream_t stream) {
    sum_with(divergent_kernel, kThreads, out, x, n, stream);
}
void sum_interleaved(float* out, const float* x, int64_t n, cudaStream_t stream) {
    sum_with(interleaved_kernel, kThreads, out, x, n, stream);
}
void sum_sequential(float* out, const float* x, int64_t n, cudaStream_t stream) {
    sum_with(sequential_kernel, kThreads, out, x, n, stream);
}
void sum_first_add(float* out, const float* x, int64_t n, cudaStream_t stream) {
    sum_with(first_add_kernel, kThreads * kPerThread, out, x, n, stream);
}
void sum_shuffle(float* out, const float* x, int64_t n, cudaStream_t stream) {
    sum_with(shuffle_kernel, kThreads * kPerThread, out, x, n, stream);
}

void sum_atomic(float* out, const float* x, int64_t n, cudaStream_t stream) {
    mini::cuda::set_bytes(out, 0, sizeof(float), stream);
    launch(atomic_kernel, {.grid = blocks(n, kThreads * kPerThread), .block = kThreads},
           stream, out, x, n);
}

}  // namespace mini::kernels::cuda
