// Where the time of data-parallel training goes, read off the event log.
//
//     forward | backward ........................ | waiting
//                  [ bucket 0 ]  [ bucket 1 .......... ]
//                  hidden: up to the end of backward

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/core/events.hpp"

namespace mini::training {

/// Means over the iterations that the log holds, in seconds (what DDP's Logger collects in
/// PyTorch: forward_compute_time, backward_comm_time and so on).
struct TrainingStatistics {
    int64_t iterations = 0;
    double forward = 0.0;
    double backward = 0.0;       // from the end of forward to the last gradient
    double communication = 0.0;  // of the buckets' all-reduces, from begin to end
    double waiting = 0.0;        // from the last gradient until all are averaged
    double hidden = 0.0;         // the share of communication before the end of backward
};
TrainingStatistics training_statistics(const std::vector<Event>& events);

/// The share, 0 to 1, of the time from begin to end of the buckets' all-reduces that fell
/// before the end of the backward pass they belong to; 0 when the log holds none. The
/// rest is what the ranks stood waiting.
double hidden_communication(const std::vector<Event>& events);

}  // namespace mini::training
