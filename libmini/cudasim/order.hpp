// What comes before what: vector clocks over the streams and the host.
//
// Each stream is a timeline, and all threads of the host together are timeline 0.
// Operations are counted on each timeline. The clock of an operation says, timeline by
// timeline, how many operations of that one it certainly comes after:
//
//     given to a stream      after the stream's last one, and after all the host has waited for
//     stream waits an event  after what the event's stream had when it was recorded
//     host waits             the host comes after the stream, or the event
//
// Two operations that touch the same memory, one of them writing, must be ordered by
// these clocks; in which order they happened to run says nothing. The threads of the host
// count as one because the mutexes between them cannot be seen from here.

#pragma once

#include <cstdint>
#include <vector>

namespace mini::sim {

/// Names one operation: the count-th of its timeline.
struct Stamp {
    uint32_t timeline = 0;
    uint64_t count = 0;
};

/// clock[t]: how many operations of timeline t come before.
using Clock = std::vector<uint64_t>;

/// Whether all that `earlier` names comes before the thread that has this clock.
inline bool precedes(Stamp earlier, const Clock& clock) {
    return earlier.timeline < clock.size() && clock[earlier.timeline] >= earlier.count;
}

/// clock = the later of both, timeline by timeline.
void join(Clock& clock, const Clock& other);

}  // namespace mini::sim
