#include <cstdint>

#include "labs/06-cuda-kernels/kernels.hpp"

// [lab06 file]
namespace {

// ---- what the kernels share

struct Corner {
    int64_t row, col;
};

__host__ __device__ int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the number of tiles of out, which is the number of blocks.
template <int kRows, int kCols>
unsigned tile_count(const Product& p) {
    return static_cast<unsigned>(ceil_div(p.a.rows, kRows) * ceil_div(p.b.cols, kCols));
}

// Returns the upper left corner of this block's tile of out. The blocks are numbered along
// the rows of tiles, in dimension x, the only one in which a grid can have more than 65,535.
//
//     block   0   1   2
//             3   4   5        three tiles across, N = 3 kCols
template <int kRows, int kCols>
__device__ Corner tile_corner(const Product& p) {
    const int64_t across = ceil_div(p.b.cols, kCols);
    return {blockIdx.x / across * kRows, blockIdx.x % across * kCols};
}

// Returns element (i, j), or 0 past the edges: zeros do not change the sums.
__device__ float at_or_zero(const Matrix& m, int64_t i, int64_t j) {
    return i < m.rows && j < m.cols ? m.data[i * m.row_step + j * m.col_step] : 0.0f;
}

// Writes element (i, j) of out, or adds to it if p.accumulate. Does nothing past the edges.
__device__ void write(const Product& p, int64_t i, int64_t j, float value) {
    if (i >= p.a.rows || j >= p.b.cols) return;
    float& element = p.out[i * p.b.cols + j];
    element = p.accumulate ? element + value : value;
}

// Writes four adjacent elements of a row of out, in one store if each row begins at a
// multiple of 16 bytes. j is a multiple of 4.
__device__ void write_four(const Product& p, int64_t i, int64_t j, const float* four) {
    if (p.b.cols % 4 != 0 || i >= p.a.rows || j >= p.b.cols) {
        for (int column = 0; column < 4; ++column) write(p, i, j + column, four[column]);
        return;
    }
    auto* const out = reinterpret_cast<float4*>(p.out + i * p.b.cols + j);
    const float4 before = p.accumulate ? *out : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    *out = make_float4(before.x + four[0], before.y + four[1], before.z + four[2],
                       before.w + four[3]);
}

// A position in a tile.
struct Spot {
    int row, col;
};

// Returns the position of the i-th element of a tile, counted in the storage order of the
// matrix, so that adjacent threads access adjacent floats.
template <int kRows, int kCols>
__device__ Spot tile_element(const Matrix& m, int i) {
    if (m.col_step == 1) return {i / kCols, i % kCols};
    return {i % kRows, i / kRows};
}

// ---- one thread, one element, from a row of a and a column of b in global memory
//
// Memory is read in sectors of 32 bytes, 8 floats. Which elements adjacent threads compute:
//
//     naive        adjacent rows: for each k a warp reads 32 floats of a that are K apart,
//                  in 32 sectors, and it writes elements N apart
//     coalesced    adjacent columns: a warp reads one float of a, which all threads use,
//                  and 32 adjacent floats of b, in 4 sectors
//
// Traffic: 2 K floats for each of the M N elements, although a and b have only (M + N) K.

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

// ---- a block computes a tile of 32 x 32 elements, and copies each float once
//
//                     b   . . [k] . .          for each step of 32 along K:
//                         . . [k] . .              each thread copies one float of a's
//                                                  tile and one of b's
//     a   . . . .     out . . . . .                barrier
//         [ k ] .         . . [T] . .              each thread adds 32 products
//         . . . .         . . . . .                barrier
//
// Each copied float is used by 32 threads, so the traffic is 1/32 of the kernels' above.
// Each product still reads two floats from shared memory, which limits the speed.

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

// ---- a block computes 64 x 64 elements with 256 threads, and each thread 4 x 4
//
// A float read from shared memory is used four times.
//
//     square of out, 64 x 64   each of 16 x 16 threads computes a square:
//
//         x                        rows y to y + 3, columns x to x + 3,
//     y   .  .  .  .               where x and y are 0, 4, 8, ..., 60
//         .  .  .  .
//         .  .  .  .           for each k it reads one float4 of a and one of b, and adds
//         .  .  .  .           16 products: 1/8 access per product (tiled: 2)
//
// 8 threads read 8 adjacent float4 of b, from all 32 banks of shared memory. Both tiles
// have K as the first index, so that a thread's 4 rows of a are adjacent too.

constexpr int kSquare = 64;
constexpr int kDepth = 16;  // of a step along K
constexpr int kSide = 16;   // threads along a side of the square
constexpr int kEach = kSquare / kSide;
constexpr int kThreads = kSide * kSide;
constexpr int kPitch = kSquare + 4;  // for transposed copies: adjacent k in other banks

__global__ void __launch_bounds__(kThreads) registers_kernel(Product p) {
    __shared__ __align__(16) float a_tile[kDepth][kPitch];  // transposed
    __shared__ __align__(16) float b_tile[kDepth][kPitch];
    const int thread = static_cast<int>(threadIdx.x);
    const int x = thread % kSide * kEach, y = thread / kSide * kEach;
    const Corner corner = tile_corner<kSquare, kSquare>(p);

    float total[kEach][kEach] = {};
    for (int64_t step = 0; step < p.a.cols; step += kDepth) {
        // [lab06.5] Copy 64 x 16 of a and 16 x 64 of b, four floats of each per thread.
        for (int i = thread; i < kSquare * kDepth; i += kThreads) {
            const Spot from_a = tile_element<kSquare, kDepth>(p.a, i);
            const Spot from_b = tile_element<kDepth, kSquare>(p.b, i);
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

#pragma unroll
    for (int i = 0; i < kEach; ++i)
        write_four(p, corner.row + y + i, corner.col + x, total[i]);
}

}  // namespace

void matmul_naive(const Product& p) {
    naive_kernel<<<tile_count<kWide, kHigh>(p), dim3(kWide, kHigh)>>>(p);
}
void matmul_coalesced(const Product& p) {
    coalesced_kernel<<<tile_count<kHigh, kWide>(p), dim3(kWide, kHigh)>>>(p);
}
void matmul_tiled(const Product& p) {
    tiled_kernel<<<tile_count<kTile, kTile>(p), dim3(kTile, kTile)>>>(p);
}
void matmul_registers(const Product& p) {
    registers_kernel<<<tile_count<kSquare, kSquare>(p), kThreads>>>(p);
}
// [lab06 file]
