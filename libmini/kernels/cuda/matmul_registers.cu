// The fourth rung: a block computes 64 x 64 elements with 256 threads, and each thread 4
// x 4 elements, so that a float read from shared memory is used four times.
//
//     tile of out, 64 x 64     each of 16 x 16 threads computes a square:
//
//         x                        rows y to y + 3, columns x to x + 3,
//     y   .  .  .  .               where x and y are 0, 4, 8, ..., 60
//         .  .  .  .
//         .  .  .  .           for each k it reads one float4 of a and one of b, and adds
//         .  .  .  .           16 products: 1/8 access per product (tiled rung: 2)
//
// 8 threads read 8 adjacent float4 of b, from all 32 banks of shared memory. Both tiles
// have K as the first index, so that a thread's 4 rows of a are adjacent too.

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
constexpr int kPitch = kTile + 4;  // for transposed copies: adjacent k in other banks

__global__ void __launch_bounds__(kThreads) registers_kernel(Product p) {
    __align__(16) __shared__ float a_tile[kDepth][kPitch];  // transposed
    __align__(16) __shared__ float b_tile[kDepth][kPitch];
    const int thread = static_cast<int>(threadIdx.x);
    const int x = thread % kSide * kEach, y = thread / kSide * kEach;
    const Corner corner = tile_corner<kTile, kTile>(p);

    float total[kEach][kEach] = {};
    for (int64_t step = 0; step < p.a.cols; step += kDepth) {
        // [lab06.5] Copy 64 x 16 of a and 16 x 64 of b, four floats of each per thread.
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            const Spot from_a = tile_element<kTile, kDepth>(p.a, i);
            const Spot from_b = tile_element<kDepth, kTile>(p.b, i);
            a_tile[from_a.col][from_a.row] =
                at_or_zero(p.a, corner.row + from_a.row, step + from_a.col);
            b_tile[from_b.row][from_b.col] =
                at_or_zero(p.b, step + from_b.row, corner.col + from_b.col);
        }
        __syncthreads();
        // [lab06.5]

        // [lab06.5] Add the products of 4 floats of a's column and 4 of b's row.
        for (int k = 0; k < kDepth; ++k) {
            const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[k][y]);
            const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[k][x]);
            const float a[kEach] = {a4.x, a4.y, a4.z, a4.w};
            const float b[kEach] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
            for (int i = 0; i < kEach; ++i)
#pragma unroll
                for (int j = 0; j < kEach; ++j) total[i][j] += a[i] * b[j];
        }
        __syncthreads();
        // [lab06.5]
    }

    const bool vector = rows_of_float4(p.out, p.b.cols);
#pragma unroll
    for (int i = 0; i < kEach; ++i)
        write_four(p, corner.row + y + i, corner.col + x, total[i], vector);
}

}  // namespace

void matmul_registers(const Product& product, cudaStream_t stream) {
    launch(registers_kernel,
           {.grid = tile_count<kTile, kTile>(product), .block = kThreads}, stream,
           product);
}

}  // namespace mini::kernels::cuda
