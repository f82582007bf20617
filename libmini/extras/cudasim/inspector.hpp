// Checks every load and store of every kernel, and records mistakes and traffic.
//
// The simulator calls the inspector for each operation, block and barrier, and the hooks
// (hooks.hpp) call it for each access. While an inspector is set, blocks run one after
// another, so that the reports are deterministic; with findings, in an order drawn from a
// seed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "libmini/extras/cudasim/access_checker.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/allocation.hpp"
#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/host_guard.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/order.hpp"
#include "libmini/extras/cudasim/spins.hpp"

namespace mini::sim {

/// The functions are called on any thread, and concurrently for different devices. They
/// must not call the CUDA interface.
class Inspector {
  public:
    /// Each argument may be null: without `findings`, accesses are not checked; without
    /// `log`, accesses are not counted.
    Inspector(Findings* findings, AccessLog* log);

    // Called by the hooks, on the fiber of the simulated thread.

    /// What the running thread does next: continues, lets the other threads of its block
    /// run first, or ends because a GPU would end the kernel here.
    enum class Next { kContinue, kYield, kAbandon };

    /// Checks and counts an access.
    Next access(const MemoryAccess& access);
    void fence(Scope scope);
    void exchange(unsigned mask, int from, const void* address);

    // Called by the simulator.
    void memory_allocated(const Allocation& allocation);
    void memory_freed();

    /// Called when an operation was submitted to a stream, on the host thread that
    /// submitted it.
    void operation_given(const OperationInfo& info);

    /// Called before and after an operation (and all its blocks), on the thread that runs
    /// the operation.
    void operation_begins(const OperationInfo& info);
    void operation_ends(const OperationInfo& info);

    /// Called when a wait of the host has completed: every operation before `clock` is
    /// done.
    void host_waited(const Clock& clock);

    /// Returns the order in which the blocks of a launch run.
    std::vector<uint32_t> block_order(uint32_t blocks);

    /// Called before and after a block, on the host thread that runs the block. `first`:
    /// of thread 0.
    void block_begins(const Launch& launch, const Coordinates& first);
    void block_ends();

    /// Called when all threads of a block that have not exited are at __syncthreads(),
    /// before they continue. `one`: of any thread.
    void block_synchronized(const Launch& launch, const Coordinates& one,
                            std::span<const ThreadState> states);

    /// Called when all lanes of `mask` in the warp of `thread` that have not exited are in
    /// the same warp operation, before they continue.
    void warp_synchronized(unsigned thread, unsigned mask);

    /// Called before warp_synchronized() for each lane that reads the value of lane
    /// `from`, which is in the mask and has exited. `state`: of the reader.
    void lane_exited(const Launch& launch, const Coordinates& reader,
                     const ThreadState& state, int from);

    /// Called when no thread of the block can continue. The launch then fails with
    /// cudaErrorLaunchFailure.
    void block_stuck(const Launch& launch, const Coordinates& one,
                     std::span<const ThreadState> states);

  private:
    const void* call_of(uint64_t operation);

    Findings* findings_;
    AccessLog* log_;
    std::optional<HostGuard>
        guard_;  // checks the host's accesses; empty without findings

    std::mutex given_mutex_;
    std::map<uint64_t, const void*> given_;  // calls of copies and fills, by operation id
    std::mutex running_;                     // held by the running kernel, copy or fill
    Execution execution_;
    MemoryMap memory_;
    AccessChecker accesses_;
    Spins spins_;
};

/// Returns the inspector that is set (hooks.hpp), or null.
Inspector* inspector();

}  // namespace mini::sim
