// The offset between the clocks of two ranks, from barriers. No rank leaves a barrier
// before all have entered it:
//
//     rank 0   enter0 ........... leave0        enter0 <= leave of rank r
//     rank r            enter ....... leave     enter of rank r <= leave0
//
// Each barrier bounds the offset from both sides; eight of them bound it closely. Ranks on
// one host share a monotonic clock: their offset and error are 0.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::report {

/// Nanoseconds to add to a rank's clock to get rank 0's, and a bound of the error.
struct ClockOffset {
    int64_t offset = 0;
    int64_t error = 0;
};

/// A monotonic clock in nanoseconds. Ranks with the same `id` share the clock.
struct Clock {
    std::string id;  // at most 64 bytes
    std::function<int64_t()> now;
};

/// Returns the monotonic clock of this machine, with the identifier of its last boot.
Clock machine_clock();

/// Returns the offset of this rank's clock to rank 0's. Blocks until all ranks have
/// called it. Cost: one all-gather; on several hosts also eight barriers and a second one.
ClockOffset measure_offset(dist::ProcessGroup& group, const Clock& clock);

}  // namespace mini::report
