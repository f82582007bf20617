#include "tests/extras/cudasim/patterns.hpp"

#include "libmini/kernels/cuda/launch.hpp"

namespace mini::patterns {
namespace {

using mini::cuda::blocks;
using mini::cuda::launch;

constexpr int kSide = 32;

__global__ void strided_copy_kernel(float* out, const float* x, int stride, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = x[i * stride];
}

__global__ void vector_copy_kernel(float* out, const float* x, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(x)[i];
}

template <int kPitch>
__global__ void transpose_kernel(float* out, const float* x) {
    __shared__ float tile[kSide][kPitch];
    const unsigned col = threadIdx.x, row = threadIdx.y;
    tile[row][col] = x[row * kSide + col];
    __syncthreads();
    out[row * kSide + col] = tile[col][row];
}

__global__ void far_apart_kernel(float* out, float* value, const float* read,
                                 const float* x, unsigned writer, unsigned reader) {
    if (blockIdx.x == writer) *value = 1;
    const float sum = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + x[8] +
                      x[9] + x[10] + x[11] + x[12] + x[13] + x[14] + x[15];
    if (blockIdx.x == reader) *out = sum + *read;
}

// Inlined, and in an anonymous namespace: it has no linkage name.
__attribute__((always_inline)) __device__ inline float block_total(float value) {
    __shared__ float part[kSide];
    part[threadIdx.x] = value;
    __syncthreads();
    float total = 0;
    for (const float each : part) total += each;
    return total;
}

__global__ void block_total_kernel(float* out, const float* x) {
    out[threadIdx.x] = block_total(x[threadIdx.x]);
}

__global__ void count_kernel(int* total) {
    __syncthreads();
    atomicAdd(total, 1);
    __syncthreads();
}

__global__ void unwritten_kernel([[maybe_unused]] float* out) {
    __syncthreads();
    MINI_TODO("lab06.1", "Fill the array.");
}

}  // namespace

void strided_copy(float* out, const float* x, int stride, int count) {
    launch(strided_copy_kernel, {.grid = blocks(count, kSide), .block = kSide}, nullptr,
           out, x, stride, count);
}
void vector_copy(float* out, const float* x, int count) {
    launch(vector_copy_kernel, {.grid = blocks(count, kSide), .block = kSide}, nullptr,
           out, x, count);
}
void transpose_tile(float* out, const float* x, bool padded) {
    launch(padded ? transpose_kernel<kSide + 1> : transpose_kernel<kSide>,
           {.grid = 1, .block = dim3(kSide, kSide)}, nullptr, out, x);
}
void block_totals(float* out, const float* x) {
    launch(block_total_kernel, {.grid = 1, .block = kSide}, nullptr, out, x);
}
void far_apart(float* out, float* value, const float* read, const float* x,
               unsigned writer, unsigned reader, unsigned blocks) {
    launch(far_apart_kernel, {.grid = blocks, .block = 1}, nullptr, out, value, read, x,
           writer, reader);
}
void count_threads(int* total, int blocks, int threads) {
    launch(
        count_kernel,
        {.grid = static_cast<unsigned>(blocks), .block = static_cast<unsigned>(threads)},
        nullptr, total);
}
void unwritten(float* out) {
    launch(unwritten_kernel, {.grid = 2, .block = 64}, nullptr, out);
}

}  // namespace mini::patterns
