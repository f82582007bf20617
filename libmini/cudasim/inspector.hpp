// Checks every load and store of every kernel, and records mistakes and traffic.
//
// The inspector is an observer of the simulator (observer.hpp), and the hooks (hooks.hpp)
// call it for each access. While an observer is set, blocks run one after another, so
// that the reports are deterministic.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "libmini/cudasim/access_checker.hpp"
#include "libmini/cudasim/access_log.hpp"
#include "libmini/cudasim/allocation.hpp"
#include "libmini/cudasim/execution.hpp"
#include "libmini/cudasim/findings.hpp"
#include "libmini/cudasim/host_guard.hpp"
#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/memory_map.hpp"
#include "libmini/cudasim/observer.hpp"
#include "libmini/cudasim/order.hpp"

namespace mini::sim {

class Inspector final : public Observer {
  public:
    /// Each argument may be null: without `findings`, accesses are not checked; without
    /// `log`, accesses are not counted; without `guard`, the host's accesses are not
    /// checked.
    Inspector(Findings* findings, AccessLog* log, HostGuard* guard)
        : findings_(findings),
          log_(log),
          guard_(guard),
          accesses_(findings, log, execution_, memory_) {}

    // Called by the hooks, on the fiber of the simulated thread.

    /// Checks and counts an access. Returns false if a GPU would end the kernel here.
    bool access(const void* pointer, size_t bytes, Mode mode, const void* address) {
        return accesses_.access(pointer, bytes, mode, address);
    }
    void fence();
    void exchange(unsigned mask, int from, const void* address);

    // Called by the simulator.
    void memory_allocated(const Allocation& allocation) override;
    void memory_freed(const Allocation& allocation) override;
    void operation_given(const OperationInfo& info) override;
    void operation_begins(const OperationInfo& info) override;
    void operation_ends(const OperationInfo& info) override;
    void host_waited(const Clock& clock) override;
    void block_begins(const Launch& launch, const Coordinates& first) override;
    void block_ends(const Launch& launch, const Coordinates& first) override;
    void block_synchronized(const Launch& launch, const Coordinates& one,
                            std::span<const ThreadState> states) override;
    void warp_synchronized(const Launch& launch, const Coordinates& one,
                           unsigned mask) override;
    void block_stuck(const Launch& launch, const Coordinates& one,
                     std::span<const ThreadState> states) override;

  private:
    const void* call_of(uint64_t operation);

    Findings* findings_;
    AccessLog* log_;
    HostGuard* guard_;

    std::mutex given_mutex_;
    std::map<uint64_t, const void*> given_;  // calls of copies and fills, by operation id
    std::mutex running_;                     // held by the running kernel, copy or fill
    Execution execution_;
    MemoryMap memory_;
    AccessChecker accesses_;
};

/// Returns the inspector of the block that runs on this host thread, or null; the caller
/// may set it.
Inspector*& inspecting();

}  // namespace mini::sim
