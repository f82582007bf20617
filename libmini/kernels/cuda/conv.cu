// Convolution as a product of matrices that are never stored (implicit GEMM).
//
//     out (M, N)     rows M      depth K               columns N
//     forward        o           c, p, q               image, i, j      y = w x
//     grad of x      c           o, p, q               image, h, w      dx = wᵀ g
//     grad of w      o           image, i, j           c, p, q (and 1)  dw = g xᵀ
//
// A block gathers the elements that im2col would copy (cpu/conv_im2col.cpp) tile by
// tile: tiles of both factors in shared memory, 16 deep, and 4 x 4 results per thread in registers.
//
//     block    kTileM rows by 64 columns    threads: kTileM / 4 by 16
//
//     a (16, kTileM)   . m m m m .          for each step of depth, a thread reads 4 + 4
//     b (16, 64)       . n n n n .          numbers and adds their 16 products
//
// Networks with few channels have few rows: kTileM is 16, 32 or 64. The gradient of w has
// few elements and a large depth: the images are divided among blocks, and sum() adds the
// blocks' results. The gradient of the bias is one more column of dw, for which b is 1.
// There are no atomics, so repeated runs are bitwise identical.
//
// Traffic per block and step: 16 (kTileM + 64) floats for 2 * 16 * 64 kTileM operations.

#include "libmini/kernels/cuda/kernels.hpp"

#include <algorithm>

#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/strides.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::ceil_div;
using mini::cuda::launch;

constexpr int kTileN = 64;
constexpr int kTileK = 16;
constexpr int kPad = 4;                 // puts the rows of a tile in different banks
constexpr int64_t kBlocksToFill = 264;  // twice the multiprocessors of the largest GPU

// The extents of a convolution, and the divisors that split its indices.
struct Extents {
    int64_t C, H, W, O, Ho, Wo;
    int kernel, stride, padding;
    Divider<uint32_t> by_window, by_kernel, by_stride, by_outputs, by_Wo;

    Extents(const ImageExtents& in, int64_t O, const Window& window)
        : C(in.C),
          H(in.H),
          W(in.W),
          O(O),
          Ho(window.output(in.H)),
          Wo(window.output(in.W)),
          kernel(static_cast<int>(window.kernel)),
          stride(static_cast<int>(window.stride)),
          padding(static_cast<int>(window.padding)),
          by_window(window.kernel * window.kernel),
          by_kernel(window.kernel),
          by_stride(window.stride),
          by_outputs(Ho * Wo),
          by_Wo(Wo) {
        const int64_t most = std::max({C, O, int64_t{1}}) * window.kernel * window.kernel;
        MINI_CHECK(is_small(most) && is_small(H * W) && is_small(Ho * Wo),
                   "conv2d: images of ", H, " x ", W, " and weights of ", C, " to ", O,
                   " channels exceed 32-bit indices; split the images into parts");
    }
};

// Index k of (channels, kernel, kernel) as (channel, p, q).
struct WindowPlace {
    int64_t channel;
    int p, q;
};
__device__ WindowPlace window_place(const Extents& at, uint32_t k) {
    const uint32_t channel = at.by_window.quotient(k);
    const uint32_t rest = k - channel * at.by_window.divisor;
    const uint32_t p = at.by_kernel.quotient(rest);
    return {channel, static_cast<int>(p),
            static_cast<int>(rest - p * at.by_kernel.divisor)};
}

// y (O; image, i, j) = w (O; c, p, q) times the windows of x, plus the bias.
struct Forward {
    static constexpr bool kAlongDepth = false;  // adjacent threads take adjacent columns
    float* y;
    const float *x, *w, *bias;
    Extents at;
    int64_t M, N, K;

    struct Depth {
        int64_t k;
        WindowPlace place;
    };
    struct Column {
        const float* image;
        int64_t h, w;  // where the window begins
    };

    __device__ int64_t extent(int64_t) const { return K; }
    __device__ Depth depth(int64_t k, int64_t) const {
        return {k, window_place(at, static_cast<uint32_t>(k))};
    }
    __device__ Column column(int64_t n) const {
        const int64_t outputs = at.Ho * at.Wo, image = n / outputs, place = n % outputs;
        return {x + image * at.C * at.H * at.W, place / at.Wo * at.stride - at.padding,
                place % at.Wo * at.stride - at.padding};
    }
    __device__ float a(int64_t m, const Depth& d) const { return w[m * K + d.k]; }
    __device__ float b(const Depth& d, const Column& column) const {
        const int64_t row = column.h + d.place.p, col = column.w + d.place.q;
        const bool inside = row >= 0 && row < at.H && col >= 0 && col < at.W;
        return inside ? column.image[(d.place.channel * at.H + row) * at.W + col] : 0.0f;
    }
    __device__ void store(int64_t m, int64_t n, float value, int64_t) const {
        const int64_t outputs = at.Ho * at.Wo, image = n / outputs, place = n % outputs;
        y[(image * at.O + m) * outputs + place] =
            bias != nullptr ? value + bias[m] : value;
    }
};

// dx (C; image, h, w) = wᵀ (C; o, p, q) times the g of the windows that contain (h, w).
struct BackwardInput {
    static constexpr bool kAlongDepth = false;
    float* dx;
    const float *g, *w;
    Extents at;
    int64_t M, N, K;

    struct Depth {
        WindowPlace place;  // with channel o
    };
    struct Column {
        const float* image;
        int64_t h, w;  // in the padded image
    };

    __device__ int64_t extent(int64_t) const { return K; }
    __device__ Depth depth(int64_t k, int64_t) const {
        return {window_place(at, static_cast<uint32_t>(k))};
    }
    __device__ Column column(int64_t n) const {
        const int64_t pixels = at.H * at.W, image = n / pixels, place = n % pixels;
        return {g + image * at.O * at.Ho * at.Wo, place / at.W + at.padding,
                place % at.W + at.padding};
    }
    __device__ float a(int64_t m, const Depth& d) const {
        const auto [o, p, q] = d.place;
        return w[((o * at.C + m) * at.kernel + p) * at.kernel + q];
    }
    __device__ float b(const Depth& d, const Column& column) const {
        const int64_t row = column.h - d.place.p, col = column.w - d.place.q;
        if (row < 0 || col < 0) return 0.0f;
        const int64_t i = at.by_stride.quotient(static_cast<uint32_t>(row));
        const int64_t j = at.by_stride.quotient(static_cast<uint32_t>(col));
        const bool is_window =
            i * at.stride == row && j * at.stride == col && i < at.Ho && j < at.Wo;
        return is_window ? column.image[(d.place.channel * at.Ho + i) * at.Wo + j] : 0.0f;
    }
    __device__ void store(int64_t m, int64_t n, float value, int64_t) const {
        const int64_t pixels = at.H * at.W, image = n / pixels, place = n % pixels;
        dx[(image * at.C + m) * pixels + place] = value;
    }
};

// dw (O; c, p, q) = g (O; image, i, j) times the windows of x. Split s processes the
// images from s * images_per_split on. The last column is the gradient of the bias.
struct BackwardWeight {
    static constexpr bool kAlongDepth = true;
    float *dw, *dbias;  // (splits, O, C, kernel, kernel), (splits, O)
    const float *g, *x;
    Extents at;
    int64_t images, images_per_split;
    int64_t M, N, weights;  // weights: C * kernel * kernel

    struct Depth {
        int64_t image;
        int64_t place;  // i Wo + j
        int64_t h, w;   // where the window begins
    };
    struct Column {
        bool is_bias;
        WindowPlace place;
    };

    __device__ int64_t extent(int64_t split) const {
        const int64_t first = split * images_per_split;
        return min(images_per_split, images - first) * at.Ho * at.Wo;
    }
    __device__ Depth depth(int64_t k, int64_t split) const {
        const auto number = static_cast<uint32_t>(k);
        const uint32_t image = at.by_outputs.quotient(number);
        const uint32_t place = number - image * at.by_outputs.divisor;
        const uint32_t i = at.by_Wo.quotient(place);
        const uint32_t j = place - i * at.by_Wo.divisor;
        return {split * images_per_split + image, place,
                static_cast<int64_t>(i) * at.stride - at.padding,
                static_cast<int64_t>(j) * at.stride - at.padding};
    }
    __device__ Column column(int64_t n) const {
        return {n == weights, window_place(at, static_cast<uint32_t>(n))};
    }
    __device__ float a(int64_t m, const Depth& d) const {
        return g[(d.image * at.O + m) * at.Ho * at.Wo + d.place];
    }
    __device__ float b(const Depth& d, const Column& column) const {
        if (column.is_bias) return 1.0f;
        const auto [c, p, q] = column.place;
        const int64_t row = d.h + p, col = d.w + q;
        const bool inside = row >= 0 && row < at.H && col >= 0 && col < at.W;
        return inside ? x[((d.image * at.C + c) * at.H + row) * at.W + col] : 0.0f;
    }
    __device__ void store(int64_t m, int64_t n, float value, int64_t split) const {
        if (n == weights)
            dbias[split * at.O + m] = value;
        else
            dw[(split * at.O + m) * weights + n] = value;
    }
};

// One row of a tile in shared memory (one step of depth), in packs of four elements.
template <int kWidth>
using TileRow = Pack<float, 4>[(kWidth + kPad) / 4];

// Copies this thread's elements of one tile to a (kTileK, kTileM).
template <int kTileM, typename Problem>
__device__ void gather_a(TileRow<kTileM>* a, const Problem& problem, int64_t first_m,
                         int64_t k, int64_t split) {
    constexpr int kAtOnce = kTileM / 4;  // rows that the block gathers at a time
    const int depth = threadIdx.x % kTileK;
    const bool inside = k + depth < problem.extent(split);
    const auto d = problem.depth(inside ? k + depth : 0, split);
    for (int m = threadIdx.x / kTileK; m < kTileM; m += kAtOnce)
        a[depth][m / 4].at[m % 4] =
            inside && first_m + m < problem.M ? problem.a(first_m + m, d) : 0.0f;
}

// Copies this thread's elements of one tile to b (kTileK, kTileN). Adjacent threads take
// adjacent addresses, along the depth or the columns. `columns`: of this thread's elements.
template <int kThreadsOfBlock, typename Problem>
__device__ void gather_b(TileRow<kTileN>* b, const Problem& problem,
                         const typename Problem::Column* columns, int64_t first_n,
                         int64_t k, int64_t split) {
    const int64_t extent = problem.extent(split);
    if constexpr (Problem::kAlongDepth) {
        constexpr int kAtOnce = kThreadsOfBlock / kTileK;
        const int depth = threadIdx.x % kTileK;
        const bool inside = k + depth < extent;
        const auto d = problem.depth(inside ? k + depth : 0, split);
        for (int r = 0; r < kTileN / kAtOnce; ++r) {
            const int n = static_cast<int>(threadIdx.x) / kTileK + r * kAtOnce;
            b[depth][n / 4].at[n % 4] =
                inside && first_n + n < problem.N ? problem.b(d, columns[r]) : 0.0f;
        }
    } else {
        constexpr int kAtOnce = kThreadsOfBlock / kTileN;
        const int n = threadIdx.x % kTileN;
        for (int depth = threadIdx.x / kTileN; depth < kTileK; depth += kAtOnce) {
            const bool inside = k + depth < extent && first_n + n < problem.N;
            b[depth][n / 4].at[n % 4] =
                inside ? problem.b(problem.depth(k + depth, split), columns[0]) : 0.0f;
        }
    }
}

// Launch with kTileM / 4 * 16 threads, and blocks (tiles of N, tiles of M, splits).
template <int kTileM, typename Problem>
__global__ void product_kernel(Problem problem) {
    constexpr int kThreadsOfBlock = kTileM / 4 * 16;
    constexpr int kColumns =
        Problem::kAlongDepth ? kTileN / (kThreadsOfBlock / kTileK) : 1;
    __shared__ TileRow<kTileM> a[kTileK];
    __shared__ TileRow<kTileN> b[kTileK];
    const int64_t first_m = static_cast<int64_t>(blockIdx.y) * kTileM;
    const int64_t first_n = static_cast<int64_t>(blockIdx.x) * kTileN;
    const int64_t split = blockIdx.z, extent = problem.extent(split);
    const int row = threadIdx.x / 16, col = threadIdx.x % 16;

    // Compute the columns that this thread gathers, once.
    typename Problem::Column columns[kColumns];
    for (int r = 0; r < kColumns; ++r) {
        const int n = Problem::kAlongDepth
                          ? threadIdx.x / kTileK + r * (kThreadsOfBlock / kTileK)
                          : threadIdx.x % kTileN;
        columns[r] = problem.column(min(first_n + n, problem.N - 1));
    }

    // Loop over the depth, one tile at a time.
    float sums[4][4] = {};
    for (int64_t k = 0; k < extent; k += kTileK) {
        gather_a<kTileM>(a, problem, first_m, k, split);
        gather_b<kThreadsOfBlock>(b, problem, columns, first_n, k, split);
        __syncthreads();
        for (int depth = 0; depth < kTileK; ++depth) {
            const auto left = a[depth][row], right = b[depth][col];
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sums[i][j] += left.at[i] * right.at[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int64_t m = first_m + 4 * row + i, n = first_n + 4 * col + j;
            if (m < problem.M && n < problem.N) problem.store(m, n, sums[i][j], split);
        }
}

template <int kTileM, typename Problem>
void multiply_with(const Problem& problem, int64_t splits, cudaStream_t stream) {
    const dim3 grid(blocks(problem.N, kTileN), blocks(problem.M, kTileM),
                    static_cast<unsigned>(splits));
    launch(product_kernel<kTileM, Problem>, {.grid = grid, .block = kTileM / 4 * 16},
           stream, problem);
}

template <typename Problem>
void multiply(const Problem& problem, int64_t splits, cudaStream_t stream) {
    if (problem.M == 0 || problem.N == 0) return;
    if (problem.M <= 16)
        multiply_with<16>(problem, splits, stream);
    else if (problem.M <= 32)
        multiply_with<32>(problem, splits, stream);
    else
        multiply_with<64>(problem, splits, stream);
}

// Returns the number of images per block for the gradient of w: small enough that the
// blocks fill the GPU and that indices fit in 31 bits.
int64_t images_per_split(const Extents& at, int64_t images, int64_t columns) {
    const int64_t tile = at.O <= 16 ? 16 : at.O <= 32 ? 32 : 64;
    const int64_t tiles = ceil_div(columns, kTileN) * ceil_div(at.O, tile);
    const int64_t splits =
        std::min(images, ceil_div(kBlocksToFill, std::max<int64_t>(1, tiles)));
    const int64_t most = (int64_t{1} << 30) / std::max<int64_t>(1, at.Ho * at.Wo);
    return std::clamp<int64_t>(ceil_div(images, splits), 1, std::max<int64_t>(1, most));
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window, cudaStream_t stream) {
    const Extents at(in, O, window);
    multiply(Forward{.y = y,
                     .x = x,
                     .w = w,
                     .bias = bias,
                     .at = at,
                     .M = O,
                     .N = in.N * at.Ho * at.Wo,
                     .K = in.C * window.kernel * window.kernel},
             1, stream);
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window, cudaStream_t stream) {
    const Extents at(in, O, window);
    multiply(BackwardInput{.dx = dx,
                           .g = g,
                           .w = w,
                           .at = at,
                           .M = in.C,
                           .N = in.N * in.H * in.W,
                           .K = O * window.kernel * window.kernel},
             1, stream);
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
    const int64_t columns = weights + (dbias != nullptr ? 1 : 0);
    const int64_t each = images_per_split(at, in.N, columns);
    const int64_t splits = ceil_div(in.N, each);
    const Scratch<float> dw_of_split(splits > 1 ? splits * O * weights : 0, stream);
    const Scratch<float> dbias_of_split(splits > 1 && dbias != nullptr ? splits * O : 0,
                                        stream);
    multiply(BackwardWeight{.dw = splits > 1 ? dw_of_split.get() : dw,
                            .dbias = splits > 1 ? dbias_of_split.get() : dbias,
                            .g = g,
                            .x = x,
                            .at = at,
                            .images = in.N,
                            .images_per_split = each,
                            .M = O,
                            .N = columns,
                            .weights = weights},
             splits, stream);
    if (splits == 1) return;
    sum(dw, dw_of_split.get(), 1, splits, O * weights, stream);
    if (dbias != nullptr) sum(dbias, dbias_of_split.get(), 1, splits, O, stream);
}

}  // namespace mini::kernels::cuda
