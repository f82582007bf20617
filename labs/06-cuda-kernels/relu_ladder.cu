#include "labs/06-cuda-kernels/relu_ladder.hpp"

#include "libmini/kernels/cuda/each.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::launch;

constexpr int64_t kRun = 8;  // adjacent elements of a thread of relu_runs

__device__ float relu(float v) { return v < 0.0f ? 0.0f : v; }

__global__ void relu_runs_kernel(float* out,      // (n)
                                 const float* x,  // (n)
                                 int64_t n) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t begin = thread * kRun;
    for (int64_t i = begin; i < min(begin + kRun, n); ++i) out[i] = relu(x[i]);
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
    launch(relu_runs_kernel, {.grid = blocks(n, kRun * kThreads), .block = kThreads},
           stream, out, x, n);
}

void relu_each(float* out, const float* x, int64_t n, cudaStream_t stream) {
    // [lab06.1] Launch enough blocks for n threads.
    const auto grid = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, stream, out, x, n);
    // [lab06.1]
}

void relu_grid_stride(float* out, const float* x, int64_t n, unsigned grid,
                      cudaStream_t stream) {
    launch(relu_grid_stride_kernel, {.grid = grid, .block = kThreads}, stream, out, x, n);
}

}  // namespace mini::kernels::cuda
