// What comes before what: vector clocks over the streams and the host, and what the
// simulator tells a checker about the work that it runs.
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

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/cudasim/api.hpp"
#include "libmini/cudasim/block.hpp"
#include "libmini/cudasim/memory.hpp"

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

enum class OperationKind { kKernel, kCopy, kFill, kHostFunction, kMarker };

/// A piece of work in a stream, as a checker sees it.
struct OperationInfo {
    OperationKind kind = OperationKind::kMarker;
    uint64_t id = 0;  // 1, 2, 3, ... in the order of the calls
    int device = 0;
    cudaStream_t stream = nullptr;
    Stamp stamp = {};
    Clock clock = {};
    const Launch* launch = nullptr;  // of a kernel
    void* to = nullptr;              // of a copy or a fill
    const void* from = nullptr;      // of a copy; null when it reads what was staged
    size_t bytes = 0;
};

/// Where a thread of a block stands when the block cannot go on, or passes a barrier.
struct ThreadState {
    enum class At { kRunning, kBlockBarrier, kWarpBarrier, kExited };
    At at = At::kRunning;
    const void* address = nullptr;  // in the kernel, after the call that waits
    unsigned mask = 0;              // of a warp's barrier
};

/// Told what happens. Calls come from any thread, for different devices at the same time;
/// the two about operations from the thread that runs one, before and after its blocks.
/// No call may use the CUDA interface.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void memory_allocated(const Allocation&) {}
    virtual void memory_freed(const Allocation&) {}

    /// An operation was put into a stream, by the thread of the host that calls.
    virtual void operation_given(const OperationInfo&) {}

    virtual void operation_begins(const OperationInfo&) {}
    virtual void operation_ends(const OperationInfo&) {}

    /// A host's wait has returned: the host now comes after `clock`.
    virtual void host_waited(const Clock& /*clock*/) {}

    /// On the thread of the block, around its life.
    virtual void block_begins(const Launch&, const Coordinates& /*of thread 0*/) {}
    virtual void block_ends(const Launch&, const Coordinates& /*of thread 0*/) {}

    /// All threads that have not exited are at __syncthreads(), and go on after this.
    virtual void block_synchronized(const Launch&, const Coordinates& /*of one*/,
                                    std::span<const ThreadState>) {}

    /// All lanes of `mask` in a warp that have not exited have met, and go on after this.
    virtual void warp_synchronized(const Launch&, const Coordinates& /*of one*/,
                                   unsigned /*mask*/) {}

    /// No thread of the block can go on; the launch ends with cudaErrorLaunchFailure.
    virtual void block_stuck(const Launch&, const Coordinates& /*of one*/,
                             std::span<const ThreadState>) {}
};

/// The one observer, or null. REQUIRES of set_observer: nothing is queued or runs.
Observer* observer();
void set_observer(Observer* observer);

}  // namespace mini::sim
