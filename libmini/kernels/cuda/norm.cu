// Batch normalisation: shifts and scales each channel to mean 0 and variance 1.
//
//     x (N, C, space)     image 0   c0 ------  c1 ------  c2 ------
//                         image 1   c0 ------  c1 ------  c2 ------
//
// A block sums a strip of adjacent channels of some images, with adjacent threads on
// adjacent elements, and each thread on elements of one channel. So reads are coalesced
// also for short runs, such as runs of one element after a Linear. If there are more
// images than a block sums, a second kernel adds the blocks' sums. Sums are in double, as
// on the CPU.
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
using mini::cuda::launch;

constexpr int64_t kPiece = 8192;  // elements per block, if an image's strip has no more
constexpr int64_t kStrip = 64;    // elements of an image's strip of several channels

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

// dx = scale g + slope (x - mean) + shift; see also ForwardCoefficients.
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

// How the channels are divided among blocks.
struct Strips {
    int64_t channels;  // per strip
    int64_t cols;      // elements of an image's strip
    int64_t images;    // per piece: a block sums one piece of one strip
    int64_t pieces;

    explicit Strips(const ChannelExtents& extents)
        : channels(std::clamp<int64_t>(kStrip / extents.space, 1, extents.C)),
          cols(channels * extents.space),
          images(std::max<int64_t>(kPiece / cols, 1)),
          pieces(ceil_div(extents.N, images)) {}

    __host__ __device__ int64_t count(int64_t C) const { return ceil_div(C, channels); }
};

// Launch with kThreads threads, and one block per piece of each strip. If there is only
// one piece, writes the results, otherwise the partial sums.
template <typename Terms, typename Results>
__global__ void channel_sums_kernel(Pair* partial,  // (C, pieces)
                                    Terms terms, Results results, ChannelExtents extents,
                                    Strips strips) {
    __shared__ double a[kThreads], b[kThreads];
    const auto [channels, cols, images, pieces] = strips;
    const int64_t count = strips.count(extents.C), piece = blockIdx.x / count;
    const int64_t first_channel = blockIdx.x % count * channels;

    // Element i of image n's strip. All elements of a thread are in channel `mine`.
    const int64_t threads = channels == 1 ? kThreads : kThreads / cols * cols;
    const int64_t images_at_once = threads / cols, rest = threads % cols;
    int64_t n = piece * images + threadIdx.x / cols, i = threadIdx.x % cols;
    const int64_t end = min((piece + 1) * images, extents.N);
    const int64_t mine = first_channel + i / extents.space;
    Pair sums;
    if (threadIdx.x < threads && mine < extents.C) {
        const float origin = terms.origin(mine * extents.space);
        while (n < end) {
            terms.add(sums, (n * extents.C + first_channel) * extents.space + i, origin);
            n += images_at_once;
            i += rest;
            if (i >= cols) {
                i -= cols;
                ++n;
            }
        }
    }
    a[threadIdx.x] = sums.a;
    b[threadIdx.x] = sums.b;
    __syncthreads();

    // Each warp adds the threads' sums of some channels.
    const int lane = threadIdx.x % kWarpSize;
    for (int64_t k = threadIdx.x / kWarpSize; k < channels; k += kThreads / kWarpSize) {
        const int64_t c = first_channel + k;
        if (c >= extents.C) return;  // the whole warp returns
        sums = {};
        for (int64_t j = lane; j < threads / channels; j += kWarpSize) {
            const int64_t thread =
                j / extents.space * cols + k * extents.space + j % extents.space;
            sums.a += a[thread];
            sums.b += b[thread];
        }
        sums.a = team_reduce<kWarpSize>(sums.a, Sum());
        sums.b = team_reduce<kWarpSize>(sums.b, Sum());
        if (lane != 0) continue;
        if (pieces == 1)
            results.write(c, sums);
        else
            partial[c * pieces + piece] = sums;
    }
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
    const Strips strips(extents);
    const int64_t C = extents.C, pieces = strips.pieces;
    const Scratch<Pair> partial(pieces == 1 ? 0 : C * pieces, stream);
    launch(channel_sums_kernel<Terms, Results>,
           {.grid = blocks(strips.count(C) * pieces, 1), .block = kThreads}, stream,
           partial.get(), terms, results, extents, strips);
    if (pieces > 1)
        launch(finish_sums_kernel<Results>, teams_for<kWarpSize>(C), stream,
               partial.get(), results, C, pieces);
}

// Computes the channel of element k.
struct ChannelOf {
    Divider space, C;

    explicit ChannelOf(const ChannelExtents& extents)
        : space(extents.space), C(extents.C) {}
    __device__ int64_t operator()(int64_t k) const {
        return C.divide(space.divide(k).quotient).rest;
    }
};

// Computes the coefficients of channel c's forward pass: y = scale (x - mean) + shift.
struct ForwardCoefficients {
    Coefficients* coefficients;
    const float *variance, *weight, *bias;
    double eps;

    __device__ void operator()(int64_t c) const {
        const auto spread = static_cast<float>(static_cast<double>(variance[c]) + eps);
        const float w = weight != nullptr ? weight[c] : 1.0f;
        coefficients[c] = {.scale = w / sqrtf(spread),
                           .slope = 0.0f,
                           .shift = bias != nullptr ? bias[c] : 0.0f};
    }
};

struct Normalise {
    float* y;
    const float *x, *mean;
    const Coefficients* coefficients;
    ChannelOf channel_of;

    __device__ void operator()(int64_t k) const {
        const int64_t c = channel_of(k);
        y[k] = (x[k] - mean[c]) * coefficients[c].scale + coefficients[c].shift;
    }
};

struct NormaliseBackward {
    float* dx;
    const float *g, *x, *mean;
    const Coefficients* coefficients;
    ChannelOf channel_of;

    __device__ void operator()(int64_t k) const {
        const int64_t c = channel_of(k);
        const auto [scale, slope, shift] = coefficients[c];
        dx[k] = g[k] * scale + (x[k] - mean[c]) * slope + shift;
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

void batch_norm(float* y, const float* x, const float* mean, const float* variance,
                const float* weight, const float* bias, ChannelExtents extents,
                double eps, cudaStream_t stream) {
    const Scratch<Coefficients> coefficients(extents.C, stream);
    each(ForwardCoefficients{coefficients.get(), variance, weight, bias, eps}, extents.C,
         stream);
    each(Normalise{y, x, mean, coefficients.get(), ChannelOf(extents)},
         extents.N * extents.C * extents.space, stream);
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

    each(NormaliseBackward{dx, g, x, mean, coefficients.get(), ChannelOf(extents)}, n,
         stream);
}

}  // namespace mini::kernels::cuda
