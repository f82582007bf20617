// The rungs on tensor cores: one instruction of a warp multiplies 16 x 16 tiles. Inputs
// are rounded to a shorter format; products and sums are float32:
//
//     format    exponent  mantissa   a step of the instruction along K
//     float32      8         23       -
//     tf32         8         10       8
//     bf16         8          7      16
//
// A block computes 128 x 128 elements with 4 x 2 warps of 32 x 64 elements, 2 x 4 tiles
// each. While the tiles of one step are multiplied, the floats of the next step are
// loaded into registers; they are rounded when they are stored to the other half of
// shared memory.
//
//     step 0    step 1's floats to registers   multiply half 0   registers to half 1
//     step 1    step 2's floats to registers   multiply half 1   registers to half 0
//
// with a barrier after each step.
//
// The hardware defines how a tile is distributed over the lanes of a warp; fragments hide
// this distribution (CUDA C++ Programming Guide, "Warp Matrix Functions").

#include <cstdint>

#include <cuda_bf16.h>
#include <mma.h>

#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/matmul_device.hpp"

namespace mini::kernels::cuda {
namespace {

namespace wmma = nvcuda::wmma;
using mini::cuda::launch;

constexpr int kTile = 128;
constexpr int kThreads = 256;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

constexpr int kSquare = 16;             // side of a fragment's tile of out
constexpr int kWarpRows = 2 * kSquare;  // a warp's part of the block's tile
constexpr int kWarpCols = 4 * kSquare;

struct Tf32 {
    using Stored = float;
    using Element = wmma::precision::tf32;
    static constexpr int kStep = 8;
    static constexpr int kDepth = 16;  // of a block's step along K
    static __device__ Stored round(float x) { return wmma::__float_to_tf32(x); }
};

struct Bf16 {
    using Stored = __nv_bfloat16;
    using Element = __nv_bfloat16;
    static constexpr int kStep = 16;
    static constexpr int kDepth = 16;
    static __device__ Stored round(float x) { return __float2bfloat16(x); }
};

// Half of shared memory: a tile of a and a tile of b. The padding, 16 bytes per row of a,
// distributes the rows over the banks and keeps each fragment aligned to 32 bytes.
template <typename Format>
struct Half {
    static constexpr int kPitchA = Format::kDepth + 16 / sizeof(typename Format::Stored);
    static constexpr int kPitchB = kTile + 8;
    __align__(32) typename Format::Stored a[kTile * kPitchA];
    __align__(32) typename Format::Stored b[Format::kDepth * kPitchB];
};

// This thread's elements of the next step's tile of one matrix, at the positions first_ +
// i next_. They are loaded from global memory to registers, and stored to shared memory
// later.
template <typename Format, int kRows, int kCols>
class Staged {
  public:
    __device__ explicit Staged(const Matrix& m)
        : first_(tile_element<kRows, kCols>(m, static_cast<int>(threadIdx.x))),
          next_(tile_element<kRows, kCols>(m, kThreads)) {}

    __device__ void load(const Matrix& m, Corner corner) {
        const int64_t row = corner.row + first_.row, col = corner.col + first_.col;
        const float* const from = m.data + row * m.row_step + col * m.col_step;
        const int64_t distance = next_.row * m.row_step + next_.col * m.col_step;
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const bool inside =
                row + i * next_.row < m.rows && col + i * next_.col < m.cols;
            values_[i] = inside ? from[i * distance] : 0.0f;
        }
    }

    __device__ void store(typename Format::Stored* tile, int pitch) const {
        const int at = first_.row * pitch + first_.col;
        const int distance = next_.row * pitch + next_.col;
#pragma unroll
        for (int i = 0; i < kEach; ++i)
            tile[at + i * distance] = Format::round(values_[i]);
    }

  private:
    static constexpr int kEach = kRows * kCols / kThreads;
    static_assert(kThreads % kRows == 0 && kThreads % kCols == 0, "evenly spaced");
    Spot first_, next_;
    float values_[kEach];
};

template <typename Format>
using Totals =
    wmma::fragment<wmma::accumulator, kSquare, kSquare, Format::kStep, float>[2][4];

template <typename Format>
__device__ void multiply(Totals<Format>& total, const Half<Format>& half, Spot warp) {
    constexpr int kStep = Format::kStep;
    using Element = typename Format::Element;
#pragma unroll
    for (int k = 0; k < Format::kDepth; k += kStep) {
        wmma::fragment<wmma::matrix_a, kSquare, kSquare, kStep, Element, wmma::row_major>
            a[2];
        wmma::fragment<wmma::matrix_b, kSquare, kSquare, kStep, Element, wmma::row_major>
            b;
#pragma unroll
        for (int i = 0; i < 2; ++i)
            wmma::load_matrix_sync(
                a[i], half.a + (warp.row + i * kSquare) * half.kPitchA + k, half.kPitchA);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            wmma::load_matrix_sync(b, half.b + k * half.kPitchB + warp.col + j * kSquare,
                                   half.kPitchB);
#pragma unroll
            for (int i = 0; i < 2; ++i) wmma::mma_sync(total[i][j], a[i], b, total[i][j]);
        }
    }
}

// Writes a fragment to out by way of shared memory: the checks at the edges of out need
// the row and column of each element, which a fragment does not give.
template <typename Fragment>
__device__ void write_square(const Product& p, float* square, const Fragment& total,
                             Corner at) {
    wmma::store_matrix_sync(square, total, kSquare, wmma::mem_row_major);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x) % 32; i < kSquare * kSquare; i += 32)
        write(p, at.row + i / kSquare, at.col + i % kSquare, square[i]);
    __syncwarp();
}

template <typename Format>
__global__ void __launch_bounds__(kThreads, 2) tensor_kernel(Product p) {
    __shared__ Half<Format> halves[2];
    const int warp_index = static_cast<int>(threadIdx.x) / 32;
    const Corner corner = tile_corner<kTile, kTile>(p);
    const Spot warp = {warp_index / 2 * kWarpRows, warp_index % 2 * kWarpCols};

    Totals<Format> total;
#pragma unroll
    for (int i = 0; i < 2 * 4; ++i) wmma::fill_fragment(total[i / 4][i % 4], 0.0f);

    constexpr int kDepth = Format::kDepth;
    Staged<Format, kTile, kDepth> a(p.a);
    Staged<Format, kDepth, kTile> b(p.b);
    const auto load = [&](int64_t step) {
        a.load(p.a, {corner.row, step});
        b.load(p.b, {step, corner.col});
    };
    const auto store = [&](Half<Format>& half) {
        a.store(half.a, half.kPitchA);
        b.store(half.b, half.kPitchB);
        __syncthreads();
    };

    load(0);
    store(halves[0]);
    int now = 0;
    for (int64_t step = 0; step < p.a.cols; step += kDepth) {
        load(step + kDepth);  // zeros past the end of K
        multiply<Format>(total, halves[now], warp);
        now = 1 - now;
        store(halves[now]);
    }

    // Each warp reuses 16 x 16 floats of the tiles' memory, which is no longer needed.
    float* square = reinterpret_cast<float*>(halves) + warp_index * kSquare * kSquare;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            write_square(p, square, total[i][j],
                         {corner.row + warp.row + i * kSquare,
                          corner.col + warp.col + j * kSquare});
}

#else

// Devices before compute capability 8.0 have neither tf32 nor bf16. start() throws for
// them, so that this kernel is never launched.
struct Tf32;
struct Bf16;

template <typename Format>
__global__ void tensor_kernel(Product) {
    __trap();
}

#endif

template <typename Format>
void start(const Product& product, cudaStream_t stream) {
    const int device = mini::cuda::current_device();
    int major = 0;
    mini::cuda::check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cudaDeviceGetAttribute");
    if (major < 8)
        throw mini::cuda::CudaError(concat(
            "matmul: the rungs tf32 and bf16 need compute capability 8.0, but device ",
            device, " has ", major, ".x; select another rung by MINI_MATMUL"));
    launch(tensor_kernel<Format>,
           {.grid = tile_count<kTile, kTile>(product), .block = kThreads}, stream,
           product);
}

}  // namespace

void matmul_tf32(const Product& product, cudaStream_t stream) {
    start<Tf32>(product, stream);
}

void matmul_bf16(const Product& product, cudaStream_t stream) {
    start<Bf16>(product, stream);
}

}  // namespace mini::kernels::cuda
