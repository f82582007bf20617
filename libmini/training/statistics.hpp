// Timing statistics of data-parallel training, computed from the event log.
//
//     forward | backward ........................ | waiting
//                  [ bucket 0 ]  [ bucket 1 .......... ]
//                  hidden: the part before the end of backward

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/core/events.hpp"

namespace mini::training {

/// The time at which one gradient is ready, in seconds since the end of forward.
struct GradientTime {
    int64_t bytes = 0;
    double ready = 0.0;
};

/// The times of one bucket, in seconds since the end of forward.
struct BucketTime {
    int64_t bytes = 0;
    double ready = 0.0;  // its last gradient is ready
    double begin = 0.0;  // its all-reduce begins on this rank: the lane is free
    double end = 0.0;    // its all-reduce ends on this rank
};

/// Means over the iterations in the log, in seconds (in PyTorch, DDP's Logger collects
/// them: forward_compute_time, backward_comm_time and so on).
struct TrainingStatistics {
    int64_t iterations = 0;
    double forward = 0.0;
    double backward = 0.0;       // from the end of forward to the last gradient
    double communication = 0.0;  // of the buckets' all-reduces, from begin to end
    double waiting = 0.0;        // from the last gradient until all averages are ready
    double hidden = 0.0;         // fraction of communication before the end of backward
    double sent_bytes = 0.0;     // by this rank, for the buckets; 0 on a GPU

    /// One entry per parameter that got a gradient, sorted by `ready`; empty without
    /// DistributedDataParallel.
    std::vector<GradientTime> gradients;

    /// One entry per bucket, in the order of the launches: means over the iterations
    /// since the buckets were last rebuilt. Empty without DistributedDataParallel.
    std::vector<BucketTime> buckets;

    /// The time of forward and backward in each iteration, in seconds.
    std::vector<double> compute;
};

/// Returns the means over the iterations in `events`. REQUIRES: events are sorted, oldest
/// first.
TrainingStatistics training_statistics(const std::vector<Event>& events);

}  // namespace mini::training
