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
// the other would read each cache line once per column, so the functions for columns read
// row by row, kColumns columns per chunk.
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
    // [lab02.4] Sum d and d² of all columns, row by row.
    for (int64_t n = 0; n < extents.N; ++n) {
        const float* const row = first + n * extents.C;
        for (int64_t c = 0; c < end - begin; ++c) {
            const double d = double{row[c]} - double{first[c]};
            sums[c] += d;
            squares[c] += d * d;
        }
    }
    // [lab02.4]
    // [lab02.4] Compute each column's mean and variance from its two sums.
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

// The factors of y = (x - mean) scale + shift.
struct Factors {
    float scale, shift;
};

Factors factors_of(int64_t c, const float* variance, const float* weight,
                   const float* bias, double eps) {
    return {.scale = static_cast<float>(inverse_deviation(variance[c], eps) *
                                        (weight ? double{weight[c]} : 1.0)),
            .shift = bias ? bias[c] : 0.0f};
}

// The factors of dx = g scale + (x - mean) slope + shift, and the other gradients; see
// batch_norm_backward.
struct BackwardFactors {
    float scale, slope, shift, dweight, dbias;
};

// sum_g is the sum of g, sum_gd that of g (x - mean), s = 1 / sqrt(variance + eps).
BackwardFactors backward_factors(double sum_g, double sum_gd, double s, double weight,
                                 double per_value) {
    const double scale = s * weight;
    return {.scale = static_cast<float>(scale),
            .slope = static_cast<float>(-scale * s * s * sum_gd * per_value),
            .shift = static_cast<float>(-scale * sum_g * per_value),
            .dweight = static_cast<float>(s * sum_gd),
            .dbias = static_cast<float>(sum_g)};
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
    parallel_for(extents.C, channels_per_chunk(extents), [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c)
            moments_of_channel(mean, variance, x, extents, c);
    });
}

void batch_norm(float* y, const float* x, const float* mean, const float* variance,
                const float* weight, const float* bias, ChannelExtents extents,
                double eps) {
    const auto normalize_columns = [&](int64_t begin, int64_t end) {
        float scale[kColumns], shift[kColumns];
        for (int64_t c = begin; c < end; ++c) {
            const Factors factors = factors_of(c, variance, weight, bias, eps);
            scale[c - begin] = factors.scale;
            shift[c - begin] = factors.shift;
        }
        for (int64_t n = 0; n < extents.N; ++n) {
            const int64_t row = n * extents.C + begin;
            for (int64_t c = 0; c < end - begin; ++c)
                y[row + c] = (x[row + c] - mean[begin + c]) * scale[c] + shift[c];
        }
    };
    const auto normalize_channels = [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
            const float m = mean[c];
            const auto [scale, shift] = factors_of(c, variance, weight, bias, eps);
            for_each_run(extents, c, [&, scale = scale, shift = shift](int64_t run) {
                for (int64_t k = run; k < run + extents.space; ++k)
                    y[k] = (x[k] - m) * scale + shift;
            });
        }
    };
    if (extents.space == 1)
        parallel_for(extents.C, kColumns, normalize_columns);
    else
        parallel_for(extents.C, channels_per_chunk(extents), normalize_channels);
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
    const auto factors_of_sums = [&](int64_t c, double sum_g, double sum_gd) {
        const double s = inverse_deviation(variance[c], options.eps);
        const auto factors = backward_factors(
            sum_g, sum_gd, s, weight ? double{weight[c]} : 1.0, per_value);
        dweight[c] = factors.dweight;
        dbias[c] = factors.dbias;
        return factors;
    };
    const auto columns = [&](int64_t begin, int64_t end) {
        // Sum all columns, row by row.
        double sum_g[kColumns] = {}, sum_gd[kColumns] = {};
        for (int64_t n = 0; n < extents.N; ++n) {
            const int64_t row = n * extents.C + begin;
            for (int64_t c = 0; c < end - begin; ++c) {
                const double gradient = g[row + c];
                sum_g[c] += gradient;
                sum_gd[c] += gradient * (double{x[row + c]} - mean[begin + c]);
            }
        }

        float scale[kColumns], slope[kColumns], shift[kColumns];
        for (int64_t c = 0; c < end - begin; ++c) {
            const auto factors = factors_of_sums(begin + c, sum_g[c], sum_gd[c]);
            scale[c] = factors.scale;
            slope[c] = factors.slope;
            shift[c] = factors.shift;
        }
        for (int64_t n = 0; n < extents.N; ++n) {
            const int64_t row = n * extents.C + begin;
            for (int64_t c = 0; c < end - begin; ++c)
                dx[row + c] = g[row + c] * scale[c] +
                              (x[row + c] - mean[begin + c]) * slope[c] + shift[c];
        }
    };
    const auto channels = [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
            const float m = mean[c];
            const double sum_g =
                sum_channel(extents, c, [&](int64_t k) { return double{g[k]}; });
            const double sum_gd = sum_channel(
                extents, c, [&](int64_t k) { return double{g[k]} * (double{x[k]} - m); });
            const BackwardFactors f = factors_of_sums(c, sum_g, sum_gd);
            for_each_run(extents, c, [&](int64_t run) {
                for (int64_t k = run; k < run + extents.space; ++k)
                    dx[k] = g[k] * f.scale + (x[k] - m) * f.slope + f.shift;
            });
        }
    };
    if (extents.space == 1)
        parallel_for(extents.C, kColumns, columns);
    else
        parallel_for(extents.C, channels_per_chunk(extents), channels);
}

}  // namespace mini::kernels::cpu
