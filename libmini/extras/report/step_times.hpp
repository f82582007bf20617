// The parts of a training step, from the spans in the event log.
//
//     step  | data | forward | backward ............ | waiting | optimizer |
//                              first gradient .. last   until all averages are ready
//
// The span "backward" covers backward and waiting: DistributedDataParallel waits for its
// buckets inside of backward(). The event kBackwardEnd separates the two. On a GPU these
// are the times of the host, which queues the work of the device.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/core/events.hpp"

namespace mini::report {

/// Seconds of the parts of one step. `step` is the whole, including what is in no part.
struct StepTimes {
    double data = 0.0;
    double forward = 0.0;
    double backward = 0.0;
    double waiting = 0.0;
    double optimizer = 0.0;
    double step = 0.0;
};

/// Returns the times of the step whose events are `events`, oldest first. A part without
/// a span takes 0 seconds; parts that occur several times are added.
StepTimes step_times(const std::vector<Event>& events);

}  // namespace mini::report
