// The third rung: a block computes a tile of 32 x 32 elements. The threads of the block
// copy the floats that they need to shared memory, each float only once per block.
//
//                     b   . . [k] . .          for each step of 32 along K:
//                         . . [k] . .              each thread copies one float of a's
//                                                  tile and one of b's
//     a   . . . .     out . . . . .                barrier
//         [ k ] .         . . [T] . .              each thread adds 32 products
//         . . . .         . . . . .                barrier
//
// Each copied float is used by 32 threads, so the traffic is 1/32 of the first two
// rungs'. Each product still reads two floats from shared memory, which limits the speed
// of this rung.

#include "libmini/kernels/cuda/matmul_device.hpp"

#include <cstdint>

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr int kTile = 32;

__global__ void __launch_bounds__(kTile* kTile) tiled_kernel(Product p) {
    __shared__ float a_tile[kTile][kTile + 1];  // + 1: a column is in 32 different banks,
    __shared__ float b_tile[kTile][kTile + 1];  // for transposed matrices
    const int x = threadIdx.x, y = threadIdx.y;
    const Corner corner = tile_corner<kTile, kTile>(p);
    const Spot a_from = tile_element<kTile, kTile>(p.a, y * kTile + x);
    const Spot b_from = tile_element<kTile, kTile>(p.b, y * kTile + x);

    float total = 0.0f;
    // [lab06.4] Copy tiles to shared memory, and multiply them.
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        // Copy a tile of a and a tile of b, one float of each per thread.
        a_tile[a_from.row][a_from.col] =
            at_or_zero(p.a, corner.row + a_from.row, step + a_from.col);
        b_tile[b_from.row][b_from.col] =
            at_or_zero(p.b, step + b_from.row, corner.col + b_from.col);
        __syncthreads();

        // Add the products of a row of a's tile and a column of b's tile.
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();  // no thread overwrites a tile that another still reads
    }
    // [lab06.4]
    write(p, corner.row + y, corner.col + x, total);
}

}  // namespace

void matmul_tiled(const Product& product, cudaStream_t stream) {
    launch(tiled_kernel,
           {.grid = tile_count<kTile, kTile>(product), .block = dim3(kTile, kTile)},
           stream, product);
}

}  // namespace mini::kernels::cuda
