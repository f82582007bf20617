// The fourth rung: a block computes 64 x 64 elements with 256 threads, and each thread 4
// x 4 elements, so that a float read from shared memory is used four times.
//
//     tile of out, 64 x 64      thread (x, y) of 16 x 16 computes the elements
//
//       x  x' x" x'"            rows  y, y + 16, y + 32, y + 48
//     y .  .  .  .              cols  x, x + 16, x + 32, x + 48
//     y'.  .  .  .
//                               for each k it reads 4 floats of a and 4 of b, and adds
//                               16 products: 1/2 read per product (tiled rung: 2)
//
// A thread's elements are 16 apart, not adjacent, so that the 16 threads of a row read 16
// adjacent floats of b, from 16 banks of shared memory.

#include "libmini/kernels/cuda/matmul_device.hpp"

#include <cstdint>

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr int kTile = 64;
constexpr int kDepth = 16;  // of a step along K
constexpr int kSide = 16;   // threads along a side of the tile
constexpr int kEach = kTile / kSide;
constexpr int kThreads = kSide * kSide;

__global__ void __launch_bounds__(kThreads) registers_kernel(Product p) {
    __shared__ float a_tile[kDepth][kTile + 1];  // transposed
    __shared__ float b_tile[kDepth][kTile + 1];
    const int thread = static_cast<int>(threadIdx.x);
    const int x = thread % kSide, y = thread / kSide;
    const Corner corner = tile_corner<kTile, kTile>(p);

    float total[kEach][kEach] = {};
    for (int64_t step = 0; step < p.a.cols; step += kDepth) {
        // Copy 64 x 16 of a and 16 x 64 of b: four floats of each per thread.
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            const Spot from_a = tile_element<kTile, kDepth>(p.a, i);
            const Spot from_b = tile_element<kDepth, kTile>(p.b, i);
            a_tile[from_a.col][from_a.row] =
                at_or_zero(p.a, corner.row + from_a.row, step + from_a.col);
            b_tile[from_b.row][from_b.col] =
                at_or_zero(p.b, step + from_b.row, corner.col + from_b.col);
        }
        __syncthreads();

        // For each k read 4 floats of a's column and 4 of b's row, and add their
        // products.
        for (int k = 0; k < kDepth; ++k) {
            float a[kEach], b[kEach];
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                a[i] = a_tile[k][y + i * kSide];
                b[i] = b_tile[k][x + i * kSide];
            }
#pragma unroll
            for (int i = 0; i < kEach; ++i)
#pragma unroll
                for (int j = 0; j < kEach; ++j) total[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j)
            write(p, corner.row + y + i * kSide, corner.col + x + j * kSide, total[i][j]);
}

}  // namespace

void matmul_registers(const Product& product, cudaStream_t stream) {
    launch(registers_kernel,
           {.grid = tile_count<kTile, kTile>(product), .block = kThreads}, stream,
           product);
}

}  // namespace mini::kernels::cuda
