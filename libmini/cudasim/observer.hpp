// What the simulator tells a checker about the work that it runs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/cudasim/allocation.hpp"
#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/order.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

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
