// Batch normalisation: shifts and scales each channel to mean 0 and variance 1.
//
//     x (N, C, space)     image 0   c0 ------  c1 ------  c2 ------
//                         image 1   c0 ------  c1 ------  c2 ------
//
// A channel is N runs of `space` elements. A thread processes whole channels, and sums
// one run after the other in double, so sums do not depend on the number of threads. The
// variance is the mean of (x - mean)². This formula needs a second pass, but it is
// accurate for a large mean; the mean of x² minus the square of the mean is not.
//
// Ioffe and Szegedy 2015, "Batch normalization".

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "libmini/core/error.hpp"  // MINI_TODO of the starter
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr int64_t kNormGrain = 32768;  // elements per chunk
constexpr int64_t kLanes = 32;         // partial sums, which the compiler vectorises

int64_t channels_per_chunk(const ChannelExtents& extents) {
    return std::max<int64_t>(1, kNormGrain / std::max<int64_t>(1, extents.per_channel()));
}

// Calls run(k) with the index k of the first element of each run of channel c.
template <typename Run>
void for_each_run(const ChannelExtents& extents, int64_t c, const Run& run) {
    for (int64_t n = 0; n < extents.N; ++n) run((n * extents.C + c) * extents.space);
}

// Returns the sum of term(k) over the indices k of all elements of channel c.
template <typename Term>
double sum_channel(const ChannelExtents& extents, int64_t c, const Term& term) {
    double lanes[kLanes] = {};
    for_each_run(extents, c, [&](int64_t run) {
        for (int64_t i = 0; i < extents.space; i += kLanes) {
            const int64_t count = std::min(kLanes, extents.space - i);
            for (int64_t lane = 0; lane < count; ++lane)
                lanes[lane] += term(run + i + lane);
        }
    });
    return std::accumulate(lanes, lanes + kLanes, 0.0);
}

// Sets mean[c] and variance[c] to the moments of channel c, in two passes.
void moments_of_channel(float* mean, float* variance, const float* x,
                        const ChannelExtents& extents, int64_t c) {
    const auto count = static_cast<double>(extents.per_channel());
    // [lab02.4] Find the mean; then the mean of the squares of the distances from it.
    const double m =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count;
    const double squares = sum_channel(extents, c, [&](int64_t k) {
        const double distance = double{x[k]} - m;
        return distance * distance;
    });
    mean[c] = static_cast<float>(m);
    variance[c] = static_cast<float>(squares / count);
    // [lab02.4]
}

// With space = 1, a channel is a column of a matrix of N rows. Reading one column after
// the other would read each cache line once per column, so column_moments reads row by
// row, kColumns columns per chunk.
constexpr int64_t kColumns = 128;

// channel_moments of the columns begin to end - 1. One pass: the sums are of d = x - the
// column's first element. The mean of d² minus the square of the mean of d loses at most
// as many digits as N has, because the first element contributes to the variance. The
// maximum with 0 is a guard against rounding: a variance is never negative.
void column_moments(float* mean, float* variance, const float* x,
                    const ChannelExtents& extents, int64_t begin, int64_t end) {
    double sums[kColumns] = {}, squares[kColumns] = {};
    const float* const first = x + begin;
    const auto count = static_cast<double>(extents.N);
    // [lab02.4] Sum d and d² of all columns, row by row; compute the moments of each.
    for (int64_t n = 0; n < extents.N; ++n) {
        const float* const row = first + n * extents.C;
        for (int64_t c = 0; c < end - begin; ++c) {
            const double d = double{row[c]} - double{first[c]};
            sums[c] += d;
            squares[c] += d * d;
        }
    }
    for (int64_t c = 0; c < end - begin; ++c) {
        const double m = sums[c] / count;
        mean[begin + c] = static_cast<float>(double{first[c]} + m);
        variance[begin + c] =
            static_cast<float>(std::max(squares[c] / count - m * m, 0.0));
    }
    // [lab02.4]
}

double inverse_deviation(float variance, double eps) {
    return 1.0 / std::sqrt(static_cast<double>(variance) + eps);
}

// Calls body(c) for each channel, on several threads.
template <typename Body>
void for_each_channel(const ChannelExtents& extents, const Body& body) {
    parallel_for(extents.C, channels_per_chunk(extents), [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) body(c);
    });
}

}  // namespace

void channel_moments(float* mean, float* variance, const float* x,
                     ChannelExtents extents) {
    if (extents.space == 1 && extents.N > 0) {
        parallel_for(extents.C, kColumns, [&](int64_t begin, int64_t end) {
            column_moments(mean, variance, x, extents, begin, end);
        });
        return;
    }
    for_each_channel(
        extents, [&](int64_t c) { moments_of_channel(mean, variance, x, extents, c); });
}

void batch_norm(float* y, const float* x, const float* mean, const float* variance,
                const float* weight, const float* bias, ChannelExtents extents,
                double eps) {
    for_each_channel(extents, [&](int64_t c) {
        const double w = weight ? double{weight[c]} : 1.0;
        const auto scale = static_cast<float>(inverse_deviation(variance[c], eps) * w);
        const float m = mean[c], shift = bias ? bias[c] : 0.0f;
        for_each_run(extents, c, [&](int64_t run) {
            for (int64_t k = run; k < run + extents.space; ++k)
                y[k] = (x[k] - m) * scale + shift;
        });
    });
}

// With d = x - mean, s = 1 / sqrt(variance + eps) and n values per channel:
//
//     dbias = sum of g     dweight = s (sum of g d)
//     dx    = weight s (g - dbias / n - d s dweight / n)
//
// The last two terms of dx come from the dependence of mean and variance on x. They are
// omitted if of_batch is false: mean and variance were then given, not computed from x.
void batch_norm_backward(float* dx, float* dweight, float* dbias, const float* g,
                         const float* x, const float* mean, const float* variance,
                         const float* weight, ChannelExtents extents,
                         BatchNormBackward options) {
    const double per_value =
        options.of_batch ? 1.0 / static_cast<double>(extents.per_channel()) : 0.0;
    for_each_channel(extents, [&](int64_t c) {
        const float m = mean[c];
        const double sum_g =
            sum_channel(extents, c, [&](int64_t k) { return double{g[k]}; });
        const double sum_gd = sum_channel(
            extents, c, [&](int64_t k) { return double{g[k]} * (double{x[k]} - m); });
        const double s = inverse_deviation(variance[c], options.eps);
        dbias[c] = static_cast<float>(sum_g);
        dweight[c] = static_cast<float>(s * sum_gd);

        const double factor = s * (weight ? double{weight[c]} : 1.0);
        const auto scale = static_cast<float>(factor);
        const auto slope = static_cast<float>(-factor * s * s * sum_gd * per_value);
        const auto shift = static_cast<float>(-factor * sum_g * per_value);
        for_each_run(extents, c, [&](int64_t run) {
            for (int64_t k = run; k < run + extents.space; ++k)
                dx[k] = g[k] * scale + (x[k] - m) * slope + shift;
        });
    });
}

}  // namespace mini::kernels::cpu
