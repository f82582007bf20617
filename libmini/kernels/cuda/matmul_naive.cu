// The first two rungs: one thread computes one element, from a row of a and a column of b
// in global memory.
//
// They differ in which elements adjacent threads compute. The 32 threads of a warp read
// at the same time, and memory is read in sectors of 32 bytes, 8 floats:
//
//     naive        adjacent threads take adjacent rows: for each k a warp reads 32 floats
//                  of a that are K apart, in 32 sectors, and it writes elements N apart
//     coalesced    adjacent threads take adjacent columns: a warp reads one float of a,
//                  which all threads use, and 32 adjacent floats of b, in 4 sectors
//
// Traffic: 2 K floats for each of the M N elements, although a and b have only (M + N) K.

#include "libmini/kernels/cuda/matmul_device.hpp"

#include <cstdint>

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr int kWide = 32;  // adjacent elements per warp
constexpr int kHigh = 8;

// Computes element (row, col) of the product; does nothing past the edges.
__device__ void multiply_row_by_column(const Product& p, int64_t row, int64_t col) {
    // [lab06.2] Multiply a row of a by a column of b.
    if (row >= p.a.rows || col >= p.b.cols) return;
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];
    write(p, row, col, total);
    // [lab06.2]
}

__global__ void naive_kernel(Product p) {
    const Corner corner = tile_corner<kWide, kHigh>(p);
    multiply_row_by_column(p, corner.row + threadIdx.x, corner.col + threadIdx.y);
}

__global__ void coalesced_kernel(Product p) {
    const Corner corner = tile_corner<kHigh, kWide>(p);
    // [lab06.2] Give adjacent threads adjacent columns.
    multiply_row_by_column(p, corner.row + threadIdx.y, corner.col + threadIdx.x);
    // [lab06.2]
}

}  // namespace

void matmul_naive(const Product& product, cudaStream_t stream) {
    launch(naive_kernel,
           {.grid = tile_count<kWide, kHigh>(product), .block = dim3(kWide, kHigh)},
           stream, product);
}

void matmul_coalesced(const Product& product, cudaStream_t stream) {
    launch(coalesced_kernel,
           {.grid = tile_count<kHigh, kWide>(product), .block = dim3(kWide, kHigh)},
           stream, product);
}

}  // namespace mini::kernels::cuda
