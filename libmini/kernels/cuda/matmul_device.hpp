// Functions that the kernels of the ladder share: reading a matrix with zeros around it,
// writing a result, and assigning tiles of the result to blocks. Included only by .cu
// files.
//
// Blocks are numbered along the rows of tiles, in dimension x, the only dimension in
// which a grid can have more than 65,535 blocks.
//
//     block   0   1   2
//             3   4   5        three tiles across, N = 3 kCols

#pragma once

#include <cstdint>

#include "libmini/kernels/cuda/launch.hpp"
#include "libmini/kernels/cuda/matmul_ladder.hpp"

namespace mini::kernels::cuda {

using mini::cuda::ceil_div;

struct Corner {
    int64_t row, col;
};

/// Returns the upper left corner of this block's tile of out.
template <int kRows, int kCols>
__device__ Corner tile_corner(const Product& p) {
    const int64_t across = ceil_div(p.b.cols, kCols);
    return {blockIdx.x / across * kRows, blockIdx.x % across * kCols};
}

/// Returns the number of tiles of out, which is the number of blocks.
template <int kRows, int kCols>
unsigned tile_count(const Product& p) {
    return mini::cuda::blocks(ceil_div(p.a.rows, kRows) * ceil_div(p.b.cols, kCols), 1);
}

/// Returns element (i, j), or 0 past the edges: zeros do not change the sums.
__device__ inline float at_or_zero(const Matrix& m, int64_t i, int64_t j) {
    return i < m.rows && j < m.cols ? m.data[i * m.row_step + j * m.col_step] : 0.0f;
}

/// Writes element (i, j) of out, or adds to it if p.accumulate. Does nothing past the
/// edges.
__device__ inline void write(const Product& p, int64_t i, int64_t j, float value) {
    if (i >= p.a.rows || j >= p.b.cols) return;
    float& element = p.out[i * p.b.cols + j];
    element = p.accumulate ? element + value : value;
}

/// Returns whether each row of a matrix begins at a multiple of 16 bytes.
__host__ __device__ inline bool rows_of_float4(const float* data, int64_t pitch) {
    return reinterpret_cast<uintptr_t>(data) % sizeof(float4) == 0 && pitch % 4 == 0;
}

/// Writes four adjacent elements of a row of out, in one store if `vector`: requires
/// rows_of_float4() of out, and a column that is a multiple of 4.
__device__ inline void write_four(const Product& p, int64_t i, int64_t j,
                                  const float* four, bool vector) {
    if (i >= p.a.rows) return;
    if (!vector || j >= p.b.cols) {
        for (int column = 0; column < 4; ++column) write(p, i, j + column, four[column]);
        return;
    }
    auto* const out = reinterpret_cast<float4*>(p.out + i * p.b.cols + j);
    const float4 before = p.accumulate ? *out : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    *out = make_float4(before.x + four[0], before.y + four[1], before.z + four[2],
                       before.w + four[3]);
}

/// A position in a tile.
struct Spot {
    int row, col;
};

/// Returns the position of the i-th element of a tile, counted in the storage order of
/// the matrix, so that adjacent threads access adjacent floats.
template <int kRows, int kCols>
__device__ Spot tile_element(const Matrix& m, int i) {
    if (m.col_step == 1) return {i / kCols, i % kCols};
    return {i % kRows, i / kRows};
}

}  // namespace mini::kernels::cuda
