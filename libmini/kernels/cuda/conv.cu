// Convolution of images, and its gradients: selects the tile and the parts of the depth
// for product_kernel (conv_product.hpp), whose head shows the product.
//
// Example: batch 128 of the MNIST network, on a GPU with 132 multiprocessors
//
//                          M      N        K      tile       blocks
//     conv 1, forward     10   73,728     25    16 x 256      288
//     conv 1, grad of w   10       26   73,728   16 x 64      231 parts of 320
//     conv 2, forward     20    8,192    250    32 x 64      128
//     conv 2, grad of w   20      251   8,192   32 x 64        4, 64 parts of 128
//     conv 2, grad of x   10   18,432    500    16 x 64      288
//
// Traffic per block and step: depth (kTileM + kTileN) floats for 2 depth kTileM kTileN
// operations.

#include <algorithm>
#include <cstdint>

#include "libmini/kernels/cuda/conv_product.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/scratch.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::ceil_div;
using mini::cuda::launch;

// Of an H100. A constant and not the device's number: the parts of a sum, and so its
// bits, are the same on all GPUs.
constexpr int64_t kMultiprocessors = 132;
constexpr int64_t kBlocksToFill = 2 * kMultiprocessors;
constexpr int64_t kMinSteps = 2;  // of a part of the depth

// How a product is divided among blocks.
struct Division {
    bool wide;  // tiles without slices
    int64_t parts = 1;
    int64_t depth_per_part;
};

int64_t tile_rows(int64_t M) { return M <= 16 ? 16 : M <= 32 ? 32 : 64; }

// Selects wide tiles if they fill the GPU, else tiles of 64 columns.
Division divide_columns(int64_t M, int64_t N, int64_t K) {
    const int64_t rows = tile_rows(M);
    const int64_t tiles = ceil_div(M, rows) * ceil_div(N, 64 * 64 / rows);
    return {.wide = tiles >= kMultiprocessors, .depth_per_part = K};
}

// Also divides the depth into parts if the tiles of 64 columns do not fill the GPU.
Division divide_depth(int64_t M, int64_t N, int64_t K) {
    Division division = divide_columns(M, N, K);
    if (division.wide || M == 0 || N == 0 || K == 0) return division;
    const int64_t rows = tile_rows(M), step = 16 * 64 / rows;
    const int64_t tiles = ceil_div(M, rows) * ceil_div(N, 64);
    const int64_t parts =
        std::clamp<int64_t>(K / (kMinSteps * step), 1, ceil_div(kBlocksToFill, tiles));
    division.depth_per_part = ceil_div(ceil_div(K, parts), step) * step;
    division.parts = ceil_div(K, division.depth_per_part);
    return division;
}

template <typename Tile, typename Problem>
void multiply_with(const Problem& problem, const Division& division,
                   cudaStream_t stream) {
    const dim3 grid(blocks(problem.N, Tile::kCols), blocks(problem.M, Tile::kRows),
                    static_cast<unsigned>(division.parts));
    launch(product_kernel<Tile, Problem>, {.grid = grid, .block = kThreads}, stream,
           problem, static_cast<uint32_t>(division.depth_per_part));
}

template <typename Problem>
void multiply(const Problem& problem, const Division& division, cudaStream_t stream) {
    if (problem.M == 0 || problem.N == 0) return;
    const int64_t rows = tile_rows(problem.M);
    if (rows == 64) return multiply_with<Tile<64, 64>>(problem, division, stream);
    if constexpr (!Problem::kOriginsAlongDepth) {
        if (division.wide && rows == 32)
            return multiply_with<Tile<32, 128>>(problem, division, stream);
        if (division.wide) return multiply_with<Tile<16, 256>>(problem, division, stream);
    }
    if (rows == 32) return multiply_with<Tile<32, 64>>(problem, division, stream);
    multiply_with<Tile<16, 64>>(problem, division, stream);
}

// Returns whether each row of an image begins a whole aligned float4 of `out`.
bool is_vector(const float* out, int64_t plane) {
    return plane % 4 == 0 && aligned<4>(out);
}

uint32_t small(int64_t n) { return static_cast<uint32_t>(n); }

template <bool kUnitStride>
void backward_input(float* dx, const float* g, const float* w, const ImageExtents& in,
                    const Extents& at, cudaStream_t stream) {
    const int64_t M = at.C, N = in.N * at.pixels(), K = at.O * at.by_window.divisor;
    const Division division = divide_depth(M, N, K);
    const bool is_divided = division.parts > 1;
    const Scratch<float> parts(is_divided ? division.parts * M * N : 0, stream);
    float* const out = is_divided ? parts.get() : dx;
    multiply(BackwardInput<kUnitStride>{.dx = out,
                                        .g = g,
                                        .w = w,
                                        .at = at,
                                        .M = small(M),
                                        .N = small(N),
                                        .K = small(K),
                                        .vector = is_vector(out, at.pixels())},
             division, stream);
    if (is_divided) sum(dx, parts.get(), 1, division.parts, M * N, stream);
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window, cudaStream_t stream) {
    const Extents at(in, O, window);
    const int64_t N = in.N * at.outputs(), K = in.C * window.kernel * window.kernel;
    multiply(Forward{.y = y,
                     .x = x,
                     .w = w,
                     .bias = bias,
                     .at = at,
                     .M = small(O),
                     .N = small(N),
                     .K = small(K),
                     .vector = is_vector(y, at.outputs())},
             divide_columns(O, N, K), stream);
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window, cudaStream_t stream) {
    const Extents at(in, O, window);
    if (window.stride == 1)
        backward_input<true>(dx, g, w, in, at, stream);
    else
        backward_input<false>(dx, g, w, in, at, stream);
}

void conv2d_backward_weight(float* dw, float* dbias, const float* g, const float* x,
                            ImageExtents in, int64_t O, Window window,
                            cudaStream_t stream) {
    const Extents at(in, O, window);
    const int64_t weights = in.C * window.kernel * window.kernel;
    if (in.N == 0) {  // empty sums
        if (dbias != nullptr) fill(dbias, 0.0f, O, stream);
        return fill(dw, 0.0f, O * weights, stream);
    }
    const int64_t N = weights + (dbias != nullptr ? 1 : 0), K = in.N * at.outputs();
    Division division = divide_depth(O, N, K);
    const bool is_divided = division.parts > 1;
    const Scratch<float> dw_parts(is_divided ? division.parts * O * weights : 0, stream);
    const Scratch<float> dbias_parts(
        is_divided && dbias != nullptr ? division.parts * O : 0, stream);
    multiply(BackwardWeight{.dw = is_divided ? dw_parts.get() : dw,
                            .dbias = is_divided ? dbias_parts.get() : dbias,
                            .g = g,
                            .x = x,
                            .at = at,
                            .M = small(O),
                            .N = small(N),
                            .K = small(K),
                            .weights = small(weights),
                            .vector = false},
             division, stream);
    if (!is_divided) return;
    sum(dw, dw_parts.get(), 1, division.parts, O * weights, stream);
    if (dbias != nullptr) sum(dbias, dbias_parts.get(), 1, division.parts, O, stream);
}

}  // namespace mini::kernels::cuda
