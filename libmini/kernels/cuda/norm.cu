// Batch normalisation: shifts and scales each channel to mean 0 and variance 1.
//
//     x (N, C, space)     image 0   c0 ------  c1 ------  c2 ------
//                         image 1   c0 ------  c1 ------  c2 ------
//
// A block sums one channel, as PyTorch's kernel does: its threads take adjacent elements of
// the runs, one run after the other, and then add their sums in double, as on the CPU.
// Short runs, such as runs of one element after a Linear, cost a sector of 32 bytes each.
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

constexpr int kTeam = 512;  // threads that sum a channel

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

// dx = scale g + slope (x - mean) + shift; see also ForwardCoefficients.
struct Coefficients {
    float scale, slope, shift;
};

struct GradientResults {
    float *dweight, *dbias;
    Coefficients* coefficients;
    const float *variance, *weight;
    double eps, per_value;
    __device__ void write(int64_t c, float /*origin*/, Pair sums) const {
        const double s = 1.0 / sqrt(static_cast<double>(variance[c]) + eps);
        const double scale = weight != nullptr ? s * static_cast<double>(weight[c]) : s;
        dbias[c] = static_cast<float>(sums.a);
        dweight[c] = static_cast<float>(s * sums.b);
        coefficients[c] = {static_cast<float>(scale),
                           static_cast<float>(-scale * s * s * sums.b * per_value),
                           static_cast<float>(-scale * sums.a * per_value)};
    }
};

// Launch with a team of kTeam threads for each channel.
template <typename Terms, typename Results>
__global__ void channel_sums_kernel(Terms terms, Results results, ChannelExtents extents,
                                    Divider by_space) {
    const auto [c, lane] = row_of_team<kTeam>();
    const float origin = terms.origin(c * extents.space);
    Pair sums;
    for (int64_t j = lane; j < extents.N * extents.space; j += kTeam) {
        const auto [n, i] = by_space.divide(j);
        terms.add(sums, (n * extents.C + c) * extents.space + i, origin);
    }
    sums.a = team_reduce<kTeam>(sums.a, Sum());
    sums.b = team_reduce<kTeam>(sums.b, Sum());
    if (lane == 0) results.write(c, origin, sums);
}

template <typename Terms, typename Results>
void sum_channels(const Terms& terms, const Results& results, ChannelExtents extents,
                  cudaStream_t stream) {
    mini::cuda::launch(channel_sums_kernel<Terms, Results>, teams_for<kTeam>(extents.C),
                       stream, terms, results, extents, Divider(extents.space));
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
    sum_channels(MomentTerms{x}, MomentResults{mean, variance, extents}, extents, stream);
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
