// Out-of-bounds indices.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::blocks;
using mini::cuda::launch;

constexpr int kThreads = 32;

__global__ void twice_wrong(float* x, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n) x[i] *= 2;  // BUG guard_off_by_one
}
__global__ void twice_right(float* x, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] *= 2;
}

// One thread per row of a (rows, cols) matrix.
__global__ void row_sums_wrong(float* out, const float* x, int rows, int cols) {
    const int row = static_cast<int>(threadIdx.x);
    if (row >= rows) return;
    float total = 0;
    for (int c = 0; c < cols; ++c) total += x[row * rows + c];  // BUG wrong_stride
    out[row] = total;
}
__global__ void row_sums_right(float* out, const float* x, int rows, int cols) {
    const int row = static_cast<int>(threadIdx.x);
    if (row >= rows) return;
    float total = 0;
    for (int c = 0; c < cols; ++c) total += x[row * cols + c];
    out[row] = total;
}

// out (cols, rows) = x (rows, cols) transposed.
__global__ void transpose_wrong(float* out, const float* x, int rows, int cols) {
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (row >= rows || col >= cols) return;
    out[col * cols + row] = x[row * cols + col];  // BUG transposed_index
}
__global__ void transpose_right(float* out, const float* x, int rows, int cols) {
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (row < rows && col < cols) out[col * rows + row] = x[row * cols + col];
}

__global__ void left_wrong(float* out, const float* x, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = x[i] - x[i - 1];  // BUG negative_halo
}
__global__ void left_right(float* out, const float* x, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = i == 0 ? 0 : x[i] - x[i - 1];
}

}  // namespace

void guard_off_by_one(bool wrong) {
    const int n = 100;
    const Floats x(n);
    launch(wrong ? twice_wrong : twice_right,
           {.grid = blocks(n, kThreads), .block = kThreads}, nullptr, x.get(), n);
}
void wrong_stride(bool wrong) {
    const Floats x(7 * 3), out(7);
    launch(wrong ? row_sums_wrong : row_sums_right, {.grid = 1, .block = kThreads},
           nullptr, out.get(), x.get(), 7, 3);
}
void transposed_index(bool wrong) {
    const Floats x(3 * 5), out(3 * 5);
    launch(wrong ? transpose_wrong : transpose_right, {.grid = 1, .block = dim3(5, 3)},
           nullptr, out.get(), x.get(), 3, 5);
}
void negative_halo(bool wrong) {
    const Floats x(10), out(10);
    launch(wrong ? left_wrong : left_right, {.grid = 1, .block = kThreads}, nullptr,
           out.get(), x.get(), 10);
}

}  // namespace mini::bugs
