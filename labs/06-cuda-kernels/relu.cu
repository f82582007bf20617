#include <cstdint>

#include "labs/06-cuda-kernels/kernels.hpp"

// [lab06 file]
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int64_t kRun = 8;    // adjacent elements of a thread of relu_runs

__device__ float relu(float v) { return v < 0.0f ? 0.0f : v; }

__global__ void relu_runs_kernel(float* out,      // (n)
                                 const float* x,  // (n)
                                 int64_t n) {
    // [lab06.1] Compute 8 adjacent elements per thread.
    const int64_t begin = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kRun;
    for (int64_t i = begin; i < begin + kRun && i < n; ++i) out[i] = relu(x[i]);
    // [lab06.1]
}

__global__ void relu_each_kernel(float* out,      // (n)
                                 const float* x,  // (n)
                                 int64_t n) {
    // [lab06.1] Compute one element per thread.
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = relu(x[i]);
    // [lab06.1]
}

__global__ void relu_grid_stride_kernel(float* out,      // (n)
                                        const float* x,  // (n)
                                        int64_t n) {
    // [lab06.1] Advance by the number of threads of the grid.
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = thread; i < n; i += threads) out[i] = relu(x[i]);
    // [lab06.1]
}

}  // namespace

void relu_runs(float* out, const float* x, int64_t n, cudaStream_t stream) {
    const int64_t of_block = kRun * kThreads;
    const auto grid = static_cast<unsigned>((n + of_block - 1) / of_block);
    if (grid > 0) relu_runs_kernel<<<grid, kThreads, 0, stream>>>(out, x, n);
}

void relu_each(float* out, const float* x, int64_t n, cudaStream_t stream) {
    // [lab06.1] Launch enough blocks for n threads.
    const auto grid = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    if (grid > 0) relu_each_kernel<<<grid, kThreads, 0, stream>>>(out, x, n);
    // [lab06.1]
}

void relu_grid_stride(float* out, const float* x, int64_t n, unsigned grid,
                      cudaStream_t stream) {
    relu_grid_stride_kernel<<<grid, kThreads, 0, stream>>>(out, x, n);
}
// [lab06 file]
