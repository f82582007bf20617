// The sum of an array, in six variants, each of which removes one cost of the variant
// before it. The first four follow M. Harris, "Optimizing Parallel Reduction in CUDA"
// (2007), in whose fourth each thread adds 2 elements, and in whose last it adds many;
// shuffles are from J. Luitjens, "Faster Parallel Reductions on Kepler" (2014).
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
// sums are bitwise identical. n may be 0: the sum is 0.
//
// The tree of 8 threads, twice: who adds what.
//
//     interleaved                            sequential
//     a   b   c   d   e   f   g   h          a   b   c   d   e   f   g   h
//     ab      cd      ef      gh             ae  bf  cg  dh
//     abcd            efgh                   aecg  bfdh
//     all                                    all

#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#ifndef MINI_TODO
#define MINI_TODO(task, title) assert(!"[" task "] not started: " title)
#endif

namespace {

constexpr int kThreads = 256;  // of a block
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

// ---- the kernels: out has one sum per block

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

// Sums `per_block` elements per block, then the sums of the blocks in the same way. Waits
// for the kernels.
void sum_with(SumKernel kernel, int64_t per_block, float* out, const float* x,
              int64_t n) {
    const int64_t blocks = n == 0 ? 1 : (n + per_block - 1) / per_block;
    if (blocks == 1) {
        kernel<<<1, kThreads>>>(out, x, n);
        return;
    }
    float* of_block;
    cudaMalloc(&of_block, blocks * sizeof(float));
    kernel<<<static_cast<unsigned>(blocks), kThreads>>>(of_block, x, n);
    sum_with(kernel, per_block, out, of_block, blocks);
    cudaFree(of_block);
}

}  // namespace

// Each computes out (1) of x (n), both on the device.
void sum_divergent(float* out, const float* x, int64_t n) {
    sum_with(divergent_kernel, kThreads, out, x, n);
}
void sum_interleaved(float* out, const float* x, int64_t n) {
    sum_with(interleaved_kernel, kThreads, out, x, n);
}
void sum_sequential(float* out, const float* x, int64_t n) {
    sum_with(sequential_kernel, kThreads, out, x, n);
}
void sum_first_add(float* out, const float* x, int64_t n) {
    sum_with(first_add_kernel, kThreads * kPerThread, out, x, n);
}
void sum_shuffle(float* out, const float* x, int64_t n) {
    sum_with(shuffle_kernel, kThreads * kPerThread, out, x, n);
}
void sum_atomic(float* out, const float* x, int64_t n) {
    const int64_t per_block = kThreads * kPerThread;
    cudaMemset(out, 0, sizeof(float));
    const auto blocks = static_cast<unsigned>((n + per_block - 1) / per_block);
    if (blocks > 0) atomic_kernel<<<blocks, kThreads>>>(out, x, n);
}

// Sums random numbers, 100,000 or as many as the argument says, by each variant, and
// prints the errors: how far the sums are from the sum in double precision. Returns 1 if
// one is further than rounding explains.
int main(int argc, char** argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 100'000;
    std::mt19937 generator(6);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(generator()) / 4294967296.0f;
    const double exact = std::accumulate(values.begin(), values.end(), 0.0);
    const float one_by_one = std::accumulate(values.begin(), values.end(), 0.0f);
    printf("the sum of %d numbers: %.6f\n", static_cast<int>(n), exact);
    printf("%-12s %10.6f\n", "one by one", one_by_one - exact);

    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    bool right = true;
    const auto report = [&](const char* name, auto sum) {
        float result = 0;
        sum(out, x, n);
        cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
        printf("%-12s %10.6f\n", name, result - exact);
        right = right && fabs(result - exact) <= 1e-6 * exact;
    };
    report("divergent", sum_divergent);
    report("interleaved", sum_interleaved);
    report("sequential", sum_sequential);
    report("first_add", sum_first_add);
    report("shuffle", sum_shuffle);
    report("atomic", sum_atomic);
    cudaFree(x);
    cudaFree(out);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return right && error == cudaSuccess ? 0 : 1;
}
