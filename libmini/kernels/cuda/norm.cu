// Batch normalisation: shifts and scales each channel to mean 0 and variance 1.
//
//     x (N, C, space)     image 0   c0 ------  c1 ------  c2 ------
//                         image 1   c0 ------  c1 ------  c2 ------
//
// A block sums one channel, as PyTorch's kernel does: its threads take adjacent elements of
// the runs, one run after the other, and then add their sums in double, as on the CPU. If
// runs have one element, as after a Linear, a block sums kAdjacent channels, so that it
// uses the whole sectors of 32 bytes that it reads.
//
// Mean and variance take one pass: with d = x - (the channel's first number),
//
//     mean = first + sum d / n        variance = (sum d² - (sum d)² / n) / n
//
// which, unlike the same formula with x instead of d, is accurate for a mean far from 0.
// Traffic: the moments read x once; the forward pass reads x and writes y; the backward
// pass reads g and x twice and writes dx.

#include "libmini/kernels/cuda/kernels.hpp"

#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/strides.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr int kTeam = 512;    // threads that sum a channel, or kAdjacent channels
constexpr int kAdjacent = 8;  // floats of a sector

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
    ChannelExtents extents;
    __device__ void write(int64_t c, float origin, Pair sums) const {
        const auto n = static_cast<double>(extents.N * extents.space);
        const double shift = sums.a / n;
        mean[c] = static_cast<float>(static_cast<double>(origin) + shift);
        const double variance_of_c = (sums.b - sums.a * shift) / n;
        variance[c] = static_cast<float>(variance_of_c < 0.0 ? 0.0 : variance_of_c);
    }
};

// Stores the coefficients of channel c, for one access of 16 bytes: forward,
// y = scale (x - mean) + shift; backward, dx = scale g + slope (x - mean) + shift.
__device__ void store_coefficients(float* coefficients,  // (C, 4)
                                   int64_t c, float scale, float slope, float shift,
                                   float mean) {
    store(coefficients + 4 * c, Pack<float, 4>{{scale, slope, shift, mean}});
}

struct GradientResults {
    float *dweight, *dbias;
    float* coefficients;
    const float *variance, *weight;
    double eps, per_value;
    __device__ void write(int64_t c, float mean, Pair sums) const {
        const double s = 1.0 / sqrt(static_cast<double>(variance[c]) + eps);
        const double scale = weight != nullptr ? s * static_cast<double>(weight[c]) : s;
        dbias[c] = static_cast<float>(sums.a);
        dweight[c] = static_cast<float>(s * sums.b);
        store_coefficients(coefficients, c, static_cast<float>(scale),
                           static_cast<float>(-scale * s * s * sums.b * per_value),
                           static_cast<float>(-scale * sums.a * per_value), mean);
    }
};

// Launch with a team of kTeam threads for every kChannels channels.
template <int kChannels, typename Terms, typename Results>
__global__ void channel_sums_kernel(Terms terms, Results results, ChannelExtents extents,
                                    Divider by_space) {
    const auto [team, thread] = row_of_team<kTeam>();
    const int lane = thread / kChannels;  // among the threads of channel c
    const int64_t c = min(team * kChannels + thread % kChannels, extents.C - 1);
    const float origin = terms.origin(c * extents.space);
    Pair sums;
    for (int64_t j = lane; j < extents.N * extents.space; j += kTeam / kChannels) {
        const auto [n, i] = by_space.divide(j);
        terms.add(sums, (n * extents.C + c) * extents.space + i, origin);
    }
    sums.a = team_reduce<kTeam, kChannels>(sums.a, Sum());
    sums.b = team_reduce<kTeam, kChannels>(sums.b, Sum());
    if (lane == 0 && team * kChannels + thread < extents.C)
        results.write(c, origin, sums);
}

template <typename Terms, typename Results>
void sum_channels(const Terms& terms, const Results& results, ChannelExtents extents,
                  cudaStream_t stream) {
    const bool rows = extents.space == 1;
    const int64_t teams = rows ? mini::cuda::ceil_div(extents.C, kAdjacent) : extents.C;
    mini::cuda::launch(rows ? channel_sums_kernel<kAdjacent, Terms, Results>
                            : channel_sums_kernel<1, Terms, Results>,
                       teams_for<kTeam>(teams), stream, terms, results, extents,
                       Divider(extents.space));
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

}  // namespace

void channel_moments(float* mean, float* variance, const float* x, ChannelExtents extents,
                     cudaStream_t stream) {
    if (extents.C == 0) return;
    if (extents.per_channel() == 0) {  // 0 / 0
        fill(mean, NAN, extents.C, stream);
        return fill(variance, NAN, extents.C, stream);
    }
    sum_channels(MomentTerms{x}, MomentResults{mean, variance, extents}, extents, stream);
}

void batch_norm(float* y, const float* x, const float* mean, const float* variance,
                const float* weight, const float* bias, ChannelExtents extents,
                double eps, cudaStream_t stream) {
    const Scratch<float> scratch(4 * extents.C, stream);
    float* const coefficients = scratch.get();
    const auto prepare = [=] __device__(int64_t c) {
        const auto spread = static_cast<float>(static_cast<double>(variance[c]) + eps);
        const float w = weight != nullptr ? weight[c] : 1.0f;
        store_coefficients(coefficients, c, w / sqrtf(spread), 0.0f,
                           bias != nullptr ? bias[c] : 0.0f, mean[c]);
    };
    each(prepare, extents.C, stream);

    const ChannelOf channel_of(extents);
    const auto normalise = [=] __device__(int64_t k) {
        const auto [scale, slope, shift, mean] =
            load<4>(coefficients + 4 * channel_of(k)).at;
        y[k] = (x[k] - mean) * scale + shift;
    };
    each(normalise, extents.N * extents.C * extents.space, stream);
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
    const Scratch<float> scratch(4 * extents.C, stream);
    float* const coefficients = scratch.get();
    sum_channels(GradientTerms{g, x, mean, extents.C, extents.space},
                 GradientResults{dweight, dbias, coefficients, variance, weight,
                                 options.eps, per_value},
                 extents, stream);

    const ChannelOf channel_of(extents);
    const auto gradient = [=] __device__(int64_t k) {
        const auto [scale, slope, shift, mean] =
            load<4>(coefficients + 4 * channel_of(k)).at;
        dx[k] = g[k] * scale + (x[k] - mean) * slope + shift;
    };
    each(gradient, n, stream);
}

}  // namespace mini::kernels::cuda
