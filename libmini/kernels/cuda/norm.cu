// Batch normalisation: shifts and scales each channel to mean 0 and variance 1.
//
//     x (N, C, space)     image 0   c0 ------  c1 ------  c2 ------
//                         image 1   c0 ------  c1 ------  c2 ------
//
// A channel is split into pieces of kPiece elements. A block sums one piece, with
// adjacent threads on adjacent elements of a run; if a channel has several pieces, a
// second kernel adds their sums. Sums are in double, as on the CPU.
//
// For short runs, such as runs of one element after a Linear, this would read a sector of
// 32 bytes per run. So for short runs a block takes a strip of adjacent channels, with
// adjacent threads along the strip, and loops over the images:
//
//     space = 2    image 0   t0  t1 | t2  t3 | ... | t62 t63      image 4   t0 t1 | ...
//                  image 1   t64 t65| t66 t67| ...                image 5   ...
//
// Mean and variance take one pass: with d = x - (the channel's first number),
//
//     mean = first + sum d / n        variance = (sum d² - (sum d)² / n) / n
//
// which, unlike the same formula with x instead of d, is accurate for a mean far from 0.
// Traffic: the moments read x once; the forward pass reads x and writes y; the backward
// pass reads g and x twice and writes dx.

#include "libmini/kernels/cuda/kernels.hpp"

#include <algorithm>

#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/strides.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::blocks;
using mini::cuda::ceil_div;
using mini::cuda::Extents;
using mini::cuda::launch;

constexpr int64_t kPiece = 8192;  // elements per block
constexpr int64_t kShortRun = 16;
constexpr int64_t kStrip = 64;  // adjacent elements per block for short runs

struct Pair {
    double a = 0.0, b = 0.0;
};

// The terms of a channel's two sums.
struct MomentTerms {
    const float* x;
    __device__ float origin(int64_t first) const { return x[first]; }
    __device__ void add(Pair& sums, int64_t k, float origin) const {
        const double d = static_cast<double>(x[k]) - static_cast<double>(origin);
        sums.a += d;
        sums.b += d * d;
    }
};
struct GradientTerms {
    const float *g, *x, *mean;
    int64_t C, space;
    __device__ float origin(int64_t first) const { return mean[first / space % C]; }
    __device__ void add(Pair& sums, int64_t k, float origin) const {
        const auto gradient = static_cast<double>(g[k]);
        sums.a += gradient;
        sums.b += gradient * (static_cast<double>(x[k]) - static_cast<double>(origin));
    }
};

// Functions that compute and write the results from a channel's sums.
struct MomentResults {
    float *mean, *variance;
    const float* x;
    ChannelExtents extents;
    __device__ void write(int64_t c, Pair sums) const {
        const auto n = static_cast<double>(extents.N * extents.space);
        const double shift = sums.a / n;
        mean[c] = static_cast<float>(static_cast<double>(x[c * extents.space]) + shift);
        const double variance_of_c = (sums.b - sums.a * shift) / n;
        variance[c] = static_cast<float>(variance_of_c < 0.0 ? 0.0 : variance_of_c);
    }
};

// dx = scale g + slope (x - mean) + shift
struct Coefficients {
    float scale, slope, shift;
};

struct GradientResults {
    float *dweight, *dbias;
    Coefficients* coefficients;
    const float *variance, *weight;
    double eps, per_value;
    __device__ void write(int64_t c, Pair sums) const {
        const double s = 1.0 / sqrt(static_cast<double>(variance[c]) + eps);
        const double scale = weight != nullptr ? s * static_cast<double>(weight[c]) : s;
        dbias[c] = static_cast<float>(sums.a);
        dweight[c] = static_cast<float>(s * sums.b);
        coefficients[c] = {static_cast<float>(scale),
                           static_cast<float>(-scale * s * s * sums.b * per_value),
                           static_cast<float>(-scale * sums.a * per_value)};
    }
};

// Launch with one block per piece of a channel. If a channel has only one piece, writes
// the results, otherwise the partial sums.
template <typename Terms, typename Results>
__global__ void channel_sums_kernel(Pair* partial,  // (C, pieces)
                                    Terms terms, Results results, ChannelExtents extents,
                                    int64_t pieces) {
    const int64_t c = blockIdx.x / pieces, piece = blockIdx.x % pieces;
    const int64_t end = min((piece + 1) * kPiece, extents.N * extents.space);
    const float origin = terms.origin(c * extents.space);

    // Element e of the channel is element i of image n's run. The loop updates n and i
    // without a division.
    int64_t e = piece * kPiece + threadIdx.x;
    int64_t n = e / extents.space, i = e % extents.space;
    const int64_t images = kThreads / extents.space, rest = kThreads % extents.space;
    Pair sums;
    for (; e < end; e += kThreads) {
        terms.add(sums, (n * extents.C + c) * extents.space + i, origin);
        n += images;
        i += rest;
        if (i >= extents.space) {
            i -= extents.space;
            ++n;
        }
    }
    sums.a = team_reduce<kThreads>(sums.a, Sum());
    sums.b = team_reduce<kThreads>(sums.b, Sum());
    if (threadIdx.x != 0) return;
    if (pieces == 1)
        results.write(c, sums);
    else
        partial[blockIdx.x] = sums;
}

// As channel_sums_kernel, for short runs: a piece is `images` images of a strip of
// `channels` channels.
// Launch with kThreads threads, and one block for each strip of each piece.
template <typename Terms, typename Results>
__global__ void strip_sums_kernel(Pair* partial,  // (C, pieces)
                                  Terms terms, Results results, ChannelExtents extents,
                                  int64_t pieces, int64_t channels, int64_t images) {
    __shared__ double a[kThreads], b[kThreads];
    const int64_t strips = ceil_div(extents.C, channels);
    const int64_t piece = blockIdx.x / strips;
    const int64_t first_channel = blockIdx.x % strips * channels;

    // Loop over the images of the piece.
    const int64_t cols = channels * extents.space, rows_at_once = kThreads / cols;
    const int64_t place = threadIdx.x % cols, first_row = threadIdx.x / cols;
    const int64_t mine = first_channel + place / extents.space;
    const int64_t end = min((piece + 1) * images, extents.N);
    Pair sums;
    if (mine < extents.C && first_row < rows_at_once) {
        const float origin = terms.origin(mine * extents.space);
        for (int64_t n = piece * images + first_row; n < end; n += rows_at_once)
            terms.add(sums, (n * extents.C + first_channel) * extents.space + place,
                      origin);
    }
    a[threadIdx.x] = sums.a;
    b[threadIdx.x] = sums.b;
    __syncthreads();

    // One thread per channel adds the other threads' sums of the channel.
    const int64_t c = first_channel + threadIdx.x;
    if (threadIdx.x >= channels || c >= extents.C) return;
    sums = {};
    for (int64_t row = 0; row < rows_at_once; ++row) {
        for (int64_t i = 0; i < extents.space; ++i) {
            const int64_t thread = row * cols + threadIdx.x * extents.space + i;
            sums.a += a[thread];
            sums.b += b[thread];
        }
    }
    if (pieces == 1)
        results.write(c, sums);
    else
        partial[c * pieces + piece] = sums;
}

// Launch with one warp per channel.
template <typename Results>
__global__ void finish_sums_kernel(const Pair* partial,  // (C, pieces)
                                   Results results, int64_t C, int64_t pieces) {
    const auto [c, lane] = row_of_team<kWarpSize>();
    if (c >= C) return;  // the whole warp returns
    Pair sums;
    for (int64_t piece = lane; piece < pieces; piece += kWarpSize) {
        sums.a += partial[c * pieces + piece].a;
        sums.b += partial[c * pieces + piece].b;
    }
    sums.a = team_reduce<kWarpSize>(sums.a, Sum());
    sums.b = team_reduce<kWarpSize>(sums.b, Sum());
    if (lane == 0) results.write(c, sums);
}

template <typename Terms, typename Results>
void sum_channels(const Terms& terms, const Results& results, ChannelExtents extents,
                  cudaStream_t stream) {
    const bool is_short = extents.space <= kShortRun;
    const int64_t channels =
        is_short ? std::min(kStrip / extents.space, extents.C) : 1;  // per block
    const int64_t images = kPiece / (channels * extents.space);  // per piece of a strip
    const int64_t pieces =
        is_short ? ceil_div(extents.N, images) : ceil_div(extents.per_channel(), kPiece);
    const Scratch<Pair> partial(pieces == 1 ? 0 : extents.C * pieces, stream);
    const Extents at_once{.grid = blocks(ceil_div(extents.C, channels) * pieces, 1),
                          .block = kThreads};
    if (is_short)
        launch(strip_sums_kernel<Terms, Results>, at_once, stream, partial.get(), terms,
               results, extents, pieces, channels, images);
    else
        launch(channel_sums_kernel<Terms, Results>, at_once, stream, partial.get(), terms,
               results, extents, pieces);
    if (pieces > 1)
        launch(finish_sums_kernel<Results>, teams_for<kWarpSize>(extents.C), stream,
               partial.get(), results, extents.C, pieces);
}

// Computes the channel of element k.
template <typename Index>
struct ChannelOf {
    Divider<Index> space, C;

    explicit ChannelOf(const ChannelExtents& extents)
        : space(extents.space), C(extents.C) {}
    __device__ int64_t operator()(int64_t k) const {
        const Index run = space.quotient(static_cast<Index>(k));
        return static_cast<int64_t>(run - C.quotient(run) * C.divisor);
    }
};

// REQUIRES: the elements of one run() belong to one channel.
template <typename Index>
struct Normalise {
    static constexpr int kWidth = 4;
    float* y;
    const float *x, *mean, *variance, *weight, *bias;
    ChannelOf<Index> channel_of;
    double eps;

    template <int kWidth>
    __device__ void run(int64_t k) const {
        const int64_t c = channel_of(k);
        const auto spread = static_cast<float>(static_cast<double>(variance[c]) + eps);
        const float factor = (weight != nullptr ? weight[c] : 1.0f) / sqrtf(spread);
        const float m = mean[c], shift = bias != nullptr ? bias[c] : 0.0f;
        auto values = load<kWidth>(x + k);
        for (int i = 0; i < kWidth; ++i)
            values.at[i] = (values.at[i] - m) * factor + shift;
        store(y + k, values);
    }
};

template <typename Index>
struct NormaliseBackward {
    static constexpr int kWidth = 4;
    float* dx;
    const float *g, *x, *mean;
    const Coefficients* coefficients;
    ChannelOf<Index> channel_of;

    template <int kWidth>
    __device__ void run(int64_t k) const {
        const int64_t c = channel_of(k);
        const auto [scale, slope, shift] = coefficients[c];
        const float m = mean[c];
        const auto gs = load<kWidth>(g + k), xs = load<kWidth>(x + k);
        Pack<float, kWidth> result;
        for (int i = 0; i < kWidth; ++i)
            result.at[i] = gs.at[i] * scale + (xs.at[i] - m) * slope + shift;
        store(dx + k, result);
    }
};

struct UpdateRunning {
    static constexpr int kWidth = 1;
    float *mean, *variance;
    const float *batch_mean, *batch_variance;
    double unbiased, momentum;

    static __device__ void move(float& kept, double now, double momentum) {
        kept = static_cast<float>((1.0 - momentum) * static_cast<double>(kept) +
                                  momentum * now);
    }
    template <int kWidth>
    __device__ void run(int64_t c) const {
        move(mean[c], static_cast<double>(batch_mean[c]), momentum);
        move(variance[c], unbiased * static_cast<double>(batch_variance[c]), momentum);
    }
};

}  // namespace

void channel_moments(float* mean, float* variance, const float* x, ChannelExtents extents,
                     cudaStream_t stream) {
    if (extents.C == 0) return;
    if (extents.per_channel() == 0) {  // 0 / 0
        fill(mean, NAN, extents.C, stream);
        return fill(variance, NAN, extents.C, stream);
    }
    sum_channels(MomentTerms{x}, MomentResults{mean, variance, x, extents}, extents,
                 stream);
}

void update_running(float* mean, float* variance, const float* batch_mean,
                    const float* batch_variance, int64_t C, int64_t n, double momentum,
                    cudaStream_t stream) {
    const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
    each(UpdateRunning{mean, variance, batch_mean, batch_variance, unbiased, momentum}, C,
         false, stream);
}

void batch_norm(float* y, const float* x, const float* mean, const float* variance,
                const float* weight, const float* bias, ChannelExtents extents,
                double eps, cudaStream_t stream) {
    const int64_t n = extents.N * extents.C * extents.space;
    const bool wide = extents.space % 4 == 0 && aligned<4>(y, x);
    if (is_small(n))
        each(Normalise<uint32_t>{y, x, mean, variance, weight, bias,
                                 ChannelOf<uint32_t>(extents), eps},
             n, wide, stream);
    else
        each(Normalise<uint64_t>{y, x, mean, variance, weight, bias,
                                 ChannelOf<uint64_t>(extents), eps},
             n, wide, stream);
}

void batch_norm_backward(float* dx, float* dweight, float* dbias, const float* g,
                         const float* x, const float* mean, const float* variance,
                         const float* weight, ChannelExtents extents,
                         BatchNormBackward options, cudaStream_t stream) {
    const int64_t n = extents.N * extents.C * extents.space;
    if (n == 0) {  // empty sums
        fill(dweight, 0.0f, extents.C, stream);
        return fill(dbias, 0.0f, extents.C, stream);
    }
    const double per_value =
        options.of_batch ? 1.0 / static_cast<double>(extents.per_channel()) : 0.0;
    const Scratch<Coefficients> coefficients(extents.C, stream);
    sum_channels(GradientTerms{g, x, mean, extents.C, extents.space},
                 GradientResults{dweight, dbias, coefficients.get(), variance, weight,
                                 options.eps, per_value},
                 extents, stream);

    const bool wide = extents.space % 4 == 0 && aligned<4>(dx, g, x);
    if (is_small(n))
        each(NormaliseBackward<uint32_t>{dx, g, x, mean, coefficients.get(),
                                         ChannelOf<uint32_t>(extents)},
             n, wide, stream);
    else
        each(NormaliseBackward<uint64_t>{dx, g, x, mean, coefficients.get(),
                                         ChannelOf<uint64_t>(extents)},
             n, wide, stream);
}

}  // namespace mini::kernels::cuda
