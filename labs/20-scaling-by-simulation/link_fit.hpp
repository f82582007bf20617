// The alpha-beta model of a link, fitted to measured times (Hockney, "The communication
// challenge for MPP", 1994).
//
//     seconds = alpha * messages + beta * bytes
//
// of the messages that wait for each other, and of their bytes. For one message this is
// alpha + beta * bytes; an all-reduce has more of both (all_reduce_time.hpp).
//
// The times of 4 bytes and of 16 MiB differ by a factor of a thousand. Least squares of
// the errors in seconds would fit the largest messages only: an error of 1 % there is
// larger than the whole time of a small message, which alone shows alpha. So each error
// is divided by its measured time: all measurements count equally, by their errors in
// percent.

#pragma once

#include <span>

namespace mini::lab20 {

/// A measured time, and what it was spent on.
struct Measurement {
    double messages = 1, bytes = 0;
    double seconds = 0;
};

/// The fitted model of a link.
struct LinkFit {
    double alpha = 0;  // seconds per message
    double beta = 0;   // seconds per byte

    /// Returns the time of messages that wait for each other and have `bytes` bytes in
    /// all.
    double seconds(double messages, double bytes) const {
        return alpha * messages + beta * bytes;
    }
};

/// Returns the alpha and beta that minimize the sum of the squares of
/// (predicted - measured) / measured. Throws UsageError if a measured time is not above
/// 0, or if `messages` and `bytes` are proportional in all measurements, so that alpha
/// and beta cannot be separated.
LinkFit fit_link(std::span<const Measurement> measurements);

/// Returns the largest |predicted - measured| / measured; 0 without measurements.
double largest_error(const LinkFit& fit, std::span<const Measurement> measurements);

}  // namespace mini::lab20
