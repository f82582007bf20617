#include <cstdint>

#include "labs/06-cuda-kernels/kernels.hpp"

// [lab06 file]
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kPerThread = 8;  // elements that a thread adds first
constexpr unsigned kAllLanes = 0xffffffffu;

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
    // [lab06.3] Add the block's sum to out, once.
    const float total = block_sum(first_add(x, n));
    if (threadIdx.x == kThreads - 1) atomicAdd(out, total);
    // [lab06.3]
}

}  // namespace

void sum_sequential(float* out, const float* x, int64_t n) {
    sum_by_blocks(sequential_kernel, kThreads, out, x, n);
}
void sum_first_add(float* out, const float* x, int64_t n) {
    sum_by_blocks(first_add_kernel, kThreads * kPerThread, out, x, n);
}
void sum_shuffle(float* out, const float* x, int64_t n) {
    sum_by_blocks(shuffle_kernel, kThreads * kPerThread, out, x, n);
}
void sum_atomic(float* out, const float* x, int64_t n) {
    // [lab06.3] Begin with 0, and launch one block for each 2048 elements.
    const int64_t per_block = kThreads * kPerThread;
    cudaMemset(out, 0, sizeof(float));
    const auto blocks = static_cast<unsigned>((n + per_block - 1) / per_block);
    if (blocks > 0) atomic_kernel<<<blocks, kThreads>>>(out, x, n);
    // [lab06.3]
}
// [lab06 file]
