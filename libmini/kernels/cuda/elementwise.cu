#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/launch.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::launch;

constexpr int kThreads = 256;

__global__ void scale_kernel(float* x, float alpha, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= alpha;
}

}  // namespace

void scale(float* x, float alpha, int64_t n, cudaStream_t stream) {
    launch(scale_kernel, {.grid = blocks(n, kThreads), .block = kThreads}, stream, x, alpha,
           n);
}

}  // namespace mini::kernels::cuda
