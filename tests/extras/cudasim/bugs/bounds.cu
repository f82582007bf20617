// Out-of-bounds indices.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::blocks;
using mini::cuda::launch;

constexpr int kThreads = 32;

__global__ void twice(float* x, int n, bool wrong) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (wrong ? i <= n : i < n) x[i] *= 2;  // BUG guard_off_by_one
}

// One thread per row of a (rows, cols) matrix.
__global__ void row_sums(float* out, const float* x, int rows, int cols, int stride) {
    const int row = static_cast<int>(threadIdx.x);
    if (row >= rows) return;
    float total = 0;
    for (int c = 0; c < cols; ++c) total += x[row * stride + c];  // BUG wrong_stride
    out[row] = total;
}

// out (cols, rows) = x (rows, cols) transposed.
__global__ void transpose(float* out, const float* x, int rows, int cols, int stride) {
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (row >= rows || col >= cols) return;
    out[col * stride + row] = x[row * cols + col];  // BUG transposed_index
}

__global__ void left(float* out, const float* x, int n, int first) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= first && i < n) out[i] = x[i] - x[i - 1];  // BUG negative_halo
}

}  // namespace

void guard_off_by_one(bool wrong) {
    const int n = 100;
    const Floats x(n);
    launch(twice, {.grid = blocks(n, kThreads), .block = kThreads}, nullptr, x.get(), n,
           wrong);
}
void wrong_stride(bool wrong) {
    const Floats x(7 * 3), out(7);
    launch(row_sums, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get(), 7, 3,
           wrong ? 7 : 3);
}
void transposed_index(bool wrong) {
    const Floats x(3 * 5), out(3 * 5);
    launch(transpose, {.grid = 1, .block = dim3(5, 3)}, nullptr, out.get(), x.get(), 3, 5,
           wrong ? 5 : 3);
}
void negative_halo(bool wrong) {
    const Floats x(10), out(10);
    launch(left, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get(), 10,
           wrong ? 0 : 1);
}

}  // namespace mini::bugs
