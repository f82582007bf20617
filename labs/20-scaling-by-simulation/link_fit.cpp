#include "labs/20-scaling-by-simulation/link_fit.hpp"

#include <algorithm>
#include <cmath>

#include "libmini/core/error.hpp"

// [lab20 file]
namespace mini::lab20 {
namespace {

// The sums of the normal equations, with m = messages / seconds and b = bytes / seconds:
//
//     mm alpha + mb beta = m
//     mb alpha + bb beta = b
struct Sums {
    double mm = 0, mb = 0, bb = 0, m = 0, b = 0;
};

Sums sums_of(std::span<const Measurement> measurements) {
    Sums sums;
    // [lab20.2] Divide each measurement by its time, and add it to the five sums.
    for (const Measurement& one : measurements) {
        const double m = one.messages / one.seconds, b = one.bytes / one.seconds;
        sums.mm += m * m;
        sums.mb += m * b;
        sums.bb += b * b;
        sums.m += m;
        sums.b += b;
    }
    // [lab20.2]
    return sums;
}

// Returns whether there are two measurements with different ratios of messages to bytes.
bool are_separable(std::span<const Measurement> measurements) {
    return std::ranges::any_of(measurements, [&](const Measurement& one) {
        const Measurement& first = measurements.front();
        return one.messages * first.bytes != first.messages * one.bytes;
    });
}

}  // namespace

LinkFit fit_link(std::span<const Measurement> measurements) {
    for (const Measurement& one : measurements)
        if (!(one.seconds > 0))
            throw UsageError(
                concat("a measured time is ", one.seconds, " s, and must be above 0"));
    if (!are_separable(measurements))
        throw UsageError(
            "alpha and beta need measurements of two sizes at least, to be separated");
    const Sums sums = sums_of(measurements);
    // [lab20.2] Solve the two normal equations.
    const double determinant = sums.mm * sums.bb - sums.mb * sums.mb;
    return {.alpha = (sums.m * sums.bb - sums.b * sums.mb) / determinant,
            .beta = (sums.b * sums.mm - sums.m * sums.mb) / determinant};
    // [lab20.2]
}

double largest_error(const LinkFit& fit, std::span<const Measurement> measurements) {
    double largest = 0;
    for (const Measurement& one : measurements) {
        const double predicted = fit.seconds(one.messages, one.bytes);
        largest = std::max(largest, std::abs(predicted - one.seconds) / one.seconds);
    }
    return largest;
}

}  // namespace mini::lab20
// [lab20 file]
