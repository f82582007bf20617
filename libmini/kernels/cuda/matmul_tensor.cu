// The rungs on tensor cores: one instruction of a warp multiplies a 16 x 8 and an 8 x 8
// matrix. Inputs are rounded to a shorter format; products and sums are float32:
//
//     format    exponent  mantissa   depth of an instruction
//     float32      8         23       -
//     tf32         8         10       8
//     bf16         8          7      16
//
// A block computes 128 x 128 elements with 4 x 2 warps of 32 x 64 elements. While the
// tiles of one step along K are multiplied, the floats of the next step are loaded into
// registers; they are rounded when they are stored to the other half of shared memory:
//
//     step 0    step 1's floats to registers   multiply half 0   registers to half 1
//     step 1    step 2's floats to registers   multiply half 1   registers to half 0
//
// with a barrier after each step. Both factors lie in shared memory with K as the last
// index, as ldmatrix requires: b is stored transposed. A warp reads 16 rows of 32 bytes
// with one ldmatrix, which are one `a` of the instruction, or two `b`:
//
//     per warp and 32 bytes of depth: 2 + 4 ldmatrix, 2 x 8 products

#include <cstdint>

#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/matmul_device.hpp"
#include "libmini/kernels/cuda/tensor_core.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr int kTile = 128;
constexpr int kThreads = 256;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

constexpr int kSquare = 16;                 // rows of one ldmatrix
constexpr int kDown = 2, kAcross = 4;       // squares of a warp
constexpr int kWarpRows = kDown * kSquare;  // a warp's part of the block's tile
constexpr int kWarpCols = kAcross * kSquare;
constexpr int kDepth = 16;     // of a block's step along K
constexpr int kStepWords = 8;  // of an instruction along K

// kPack numbers are stored as 16 bytes.
struct Tf32 {
    static constexpr int kPack = 4;
    static __device__ uint4 pack(const float* x) {
        return make_uint4(tf32_word(x[0]), tf32_word(x[1]), tf32_word(x[2]),
                          tf32_word(x[3]));
    }
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
        multiply_tf32(d, a, b);
    }
};

struct Bf16 {
    static constexpr int kPack = 8;
    static __device__ uint4 pack(const float* x) {
        return make_uint4(bf16_word(x[0], x[1]), bf16_word(x[2], x[3]),
                          bf16_word(x[4], x[5]), bf16_word(x[6], x[7]));
    }
    static __device__ void multiply(float (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
        multiply_bf16(d, a, b);
    }
};

// Half of shared memory: a tile of a, and a tile of b with its columns as rows. A row has
// an odd number of 16 bytes, one of padding, so that 8 rows are in different banks.
template <typename Format>
struct Half {
    static constexpr int kPacks = kDepth / Format::kPack;
    static constexpr int kPitch = 4 * (kPacks + 1);  // in words
    __align__(16) unsigned a[kTile][kPitch];
    __align__(16) unsigned b[kTile][kPitch];
};

// This thread's packs of the next step's tile of one factor, adjacent along K. They are
// loaded from global memory to registers, and stored to shared memory later.
template <typename Format>
class Staged {
    using Tile = unsigned[kTile][Half<Format>::kPitch];
    static constexpr int kPack = Format::kPack;
    static constexpr int kEach = kTile * Half<Format>::kPacks / kThreads;

  public:
    /// `m`: the factor with K along its rows. `first_row`: of the block's tile.
    __device__ Staged(const Matrix& m, int64_t first_row)
        : m_(m),
          first_row_(first_row),
          vector_(m.col_step == 1 && m.cols % 4 == 0 &&
                  rows_of_float4(m.data, m.row_step)) {}

    /// Loads the packs of the step that begins at `k`: zeros past the edges.
    __device__ void load(int64_t k) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const Spot pack = spot(i);
            load_pack(values_[i], first_row_ + pack.row, k + pack.col * kPack);
        }
    }

    __device__ void store(Tile& tile) const {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const Spot pack = spot(i);
            *reinterpret_cast<uint4*>(&tile[pack.row][4 * pack.col]) =
                Format::pack(values_[i]);
        }
    }

  private:
    // Returns the row of this thread's i-th pack, and its number along K.
    __device__ Spot spot(int i) const {
        return tile_element<kTile, Half<Format>::kPacks>(
            m_, static_cast<int>(threadIdx.x) + i * kThreads);
    }

    __device__ void load_pack(float (&values)[kPack], int64_t row, int64_t k) const {
        const float* const from = m_.data + row * m_.row_step + k * m_.col_step;
        if (vector_) {
#pragma unroll
            for (int j = 0; j < kPack; j += 4) {
                const bool inside = row < m_.rows && k + j < m_.cols;
                const float4 four = inside ? *reinterpret_cast<const float4*>(from + j)
                                           : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                values[j] = four.x, values[j + 1] = four.y;
                values[j + 2] = four.z, values[j + 3] = four.w;
            }
            return;
        }
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            const bool inside = row < m_.rows && k + j < m_.cols;
            values[j] = inside ? from[j * m_.col_step] : 0.0f;
        }
    }

    const Matrix& m_;
    int64_t first_row_;
    bool vector_;  // rows consist of whole aligned float4
    float values_[kEach][kPack];
};

// A warp's sums: each square of out is two results of the instruction, side by side.
using Totals = float[kDown][kAcross][2][4];

// Loads 16 rows of 8 words. words[0] and [2] are rows 0 to 7, words[1] and [3] are rows 8
// to 15: together an `a` of the instruction, and each pair a `b`.
template <int kPitch>
__device__ void load_square(unsigned (&words)[4], const unsigned (&tile)[kTile][kPitch],
                            int row, int word) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    load_matrices(words, &tile[row + lane % kSquare][word + lane / kSquare * 4]);
}

template <typename Format>
__device__ void multiply(Totals& total, const Half<Format>& half, Spot warp) {
#pragma unroll
    for (int word = 0; word < 4 * Half<Format>::kPacks; word += kStepWords) {
        unsigned a[kDown][4];
#pragma unroll
        for (int i = 0; i < kDown; ++i)
            load_square(a[i], half.a, warp.row + i * kSquare, word);
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
            unsigned b[4];
            load_square(b, half.b, warp.col + j * kSquare, word);
            const unsigned left[2] = {b[0], b[2]}, right[2] = {b[1], b[3]};
#pragma unroll
            for (int i = 0; i < kDown; ++i) {
                Format::multiply(total[i][j][0], a[i], left);
                Format::multiply(total[i][j][1], a[i], right);
            }
        }
    }
}

// Writes two adjacent elements of a row of out, in one store if `is_even`: rows of out
// begin at multiples of 8 bytes.
__device__ void write_two(const Product& p, int64_t row, int64_t col, const float* two,
                          bool is_even) {
    if (!is_even || row >= p.a.rows || col >= p.b.cols) {
        write(p, row, col, two[0]);
        write(p, row, col + 1, two[1]);
        return;
    }
    auto* const out = reinterpret_cast<float2*>(p.out + row * p.b.cols + col);
    const float2 before = p.accumulate ? *out : make_float2(0.0f, 0.0f);
    *out = make_float2(before.x + two[0], before.y + two[1]);
}

// Writes a warp's sums. Lane 4 g + t has rows g and g + 8 of each result, columns 2 t and
// 2 t + 1.
__device__ void write_totals(const Product& p, const Totals& total, Corner warp) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool is_even =
        p.b.cols % 2 == 0 && reinterpret_cast<uintptr_t>(p.out) % sizeof(float2) == 0;
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
#pragma unroll
            for (int side = 0; side < 2; ++side) {
                const float(&four)[4] = total[i][j][side];
                const int64_t row = warp.row + i * kSquare + lane / 4;
                const int64_t col = warp.col + j * kSquare + side * 8 + lane % 4 * 2;
                write_two(p, row, col, &four[0], is_even);
                write_two(p, row + 8, col, &four[2], is_even);
            }
}

template <typename Format>
__global__ void __launch_bounds__(kThreads, 2) tensor_kernel(Product p) {
    __shared__ Half<Format> halves[2];
    const int warp_index = static_cast<int>(threadIdx.x) / 32;
    const Corner corner = tile_corner<kTile, kTile>(p);
    const Spot warp = {warp_index / 2 * kWarpRows, warp_index % 2 * kWarpCols};

    const Matrix b_columns = {p.b.data, p.b.cols, p.b.rows, p.b.col_step, p.b.row_step};
    Staged<Format> a(p.a, corner.row), b(b_columns, corner.col);
    const auto load = [&](int64_t step) {
        a.load(step);
        b.load(step);
    };
    const auto store = [&](Half<Format>& half) {
        a.store(half.a);
        b.store(half.b);
        __syncthreads();
    };

    Totals total = {};
    load(0);
    store(halves[0]);
    int now = 0;
    for (int64_t step = 0; step < p.a.cols; step += kDepth) {
        load(step + kDepth);  // zeros past the end of K
        multiply<Format>(total, halves[now], warp);
        now = 1 - now;
        store(halves[now]);
    }
    write_totals(p, total, {corner.row + warp.row, corner.col + warp.col});
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
