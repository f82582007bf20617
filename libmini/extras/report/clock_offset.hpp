// The offset between the clocks of two ranks, as NTP estimates it.
//
//     rank 0          t1  t2              offset  ((t1 - t0) + (t2 - t3)) / 2
//                    /      \             error   ((t3 - t0) - (t2 - t1)) / 2
//     rank r       t0        t3
//
// If both messages take the same time, the offset is exact; at worst one message takes no
// time, so the error is at most half of the time that both take. The least of several
// round trips has the least error. Ranks on one host share a monotonic clock: their
// offset and error are 0, and no messages are sent.
//
// Mills 1991, Internet Time Synchronization: The Network Time Protocol.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::report {

/// Nanoseconds to add to a rank's clock to get rank 0's, and a bound of the error.
struct ClockOffset {
    int64_t offset = 0;
    int64_t error = 0;
};

/// The times of one round trip, in nanoseconds: t0 and t3 of this rank's clock, t1 and t2
/// of rank 0's.
struct RoundTrip {
    int64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0;
};

/// Returns the offset of the round trip with the least error. REQUIRES: at least one.
ClockOffset offset_of(const std::vector<RoundTrip>& round_trips);

/// A monotonic clock in nanoseconds. Ranks with the same `id` share the clock.
struct Clock {
    std::string id;
    std::function<int64_t()> now;
};

/// Returns the monotonic clock of this machine, with the identifier of its last boot.
Clock machine_clock();

/// Returns the offset of this rank's clock to rank 0's. Blocks until all ranks have
/// called it. Cost: one all-gather; for each rank with another clock, 8 round trips.
ClockOffset measure_offset(dist::ProcessGroup& group, const Clock& clock);

}  // namespace mini::report
