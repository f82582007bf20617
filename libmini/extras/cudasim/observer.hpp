// The interface through which the simulator notifies a checker of memory and operations.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/order.hpp"

namespace mini::sim {

struct Allocation;  // memory.hpp

/// Callbacks of the simulator. They run on any thread, and concurrently for different
/// devices. They must not call the CUDA interface.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void memory_allocated(const Allocation&) {}
    virtual void memory_freed(const Allocation&) {}

    /// Called when an operation was submitted to a stream, on the host thread that
    /// submitted it.
    virtual void operation_given(const OperationInfo&) {}

    /// Called before and after an operation (and all its blocks), on the thread that runs
    /// the operation.
    virtual void operation_begins(const OperationInfo&) {}
    virtual void operation_ends(const OperationInfo&) {}

    /// Called when a wait of the host has completed: every operation before `clock` is
    /// done.
    virtual void host_waited(const Clock& /*clock*/) {}

    /// Called before the first block of a launch: the order in which its blocks run.
    /// Empty: ascending.
    virtual std::vector<uint32_t> block_order(uint32_t /*blocks*/) { return {}; }

    /// Called before and after a block, on the host thread that runs the block.
    virtual void block_begins(const Launch&, const Coordinates& /*of thread 0*/) {}
    virtual void block_ends() {}

    /// Called when all threads of a block that have not exited are at __syncthreads(),
    /// before they continue.
    virtual void block_synchronized(const Launch&, const Coordinates& /*of one*/,
                                    std::span<const ThreadState>) {}

    /// Called when all lanes of `mask` in the warp of a thread that have not exited are in
    /// the same warp operation, before they continue.
    virtual void warp_synchronized(unsigned /*thread*/, unsigned /*mask*/) {}

    /// Called before warp_synchronized() for each lane that reads the value of lane
    /// `from`, which is in the mask and has exited.
    virtual void lane_exited(const Launch&, const Coordinates& /*of the reader*/,
                             const ThreadState& /*of the reader*/, int /*from*/) {}

    /// Called when no thread of the block can continue. The launch then fails with
    /// cudaErrorLaunchFailure.
    virtual void block_stuck(const Launch&, const Coordinates& /*of one*/,
                             std::span<const ThreadState>) {}
};

/// Returns the current observer (hooks.hpp), or null.
inline Observer* observer() { return installed_observer.load(std::memory_order_acquire); }

}  // namespace mini::sim
