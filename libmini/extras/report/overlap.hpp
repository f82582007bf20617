// How much of the communication was hidden under the backward pass, from a trace.
//
//     backward        | ................ |    waiting       |
//     communication        [ bucket 0 ]      [ bucket 1 ]
//                          hidden                not hidden

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/extras/report/trace.hpp"

namespace mini::report {

/// A step of one rank. Times are in nanoseconds, of rank 0's clock.
struct TracedStep {
    Slice step;
    int64_t backward_end = 0;        // the last gradient; 0 without a span "backward"
    std::vector<Slice> parts;        // of the compute lane, one after another
    std::vector<Slice> all_reduces;  // within the step
    std::vector<Moment> launches;    // of buckets, within the step
};

/// Returns the steps of a trace, in their order.
std::vector<TracedStep> steps_of(const RankTrace& trace);

/// Means over the steps of one rank, in seconds.
struct Overlap {
    double communication = 0.0;
    double hidden = 0.0;   // the part of communication before the end of backward
    double waiting = 0.0;  // from the last gradient until all averages are ready

    double share() const { return communication > 0 ? hidden / communication : 0.0; }
};

/// Returns the means over `steps`; zeros if there are none.
Overlap overlap_of(const std::vector<TracedStep>& steps);

}  // namespace mini::report
