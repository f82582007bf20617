// Checks every load and store of every kernel, and records mistakes and traffic.
//
// The inspector is an observer of the simulator (observer.hpp), and the hooks (hooks.hpp)
// call it for each access. While an observer is set, blocks run one after another, so
// that the reports are deterministic; with findings, in an order drawn from a seed.

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
#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/host_guard.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/observer.hpp"
#include "libmini/extras/cudasim/order.hpp"
#include "libmini/extras/cudasim/spins.hpp"

namespace mini::sim {

class Inspector final : public Observer {
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
    void memory_allocated(const Allocation& allocation) override;
    void memory_freed(const Allocation& allocation) override;
    void operation_given(const OperationInfo& info) override;
    void operation_begins(const OperationInfo& info) override;
    void operation_ends(const OperationInfo& info) override;
    void host_waited(const Clock& clock) override;
    std::vector<uint32_t> block_order(uint32_t blocks) override;
    void block_begins(const Launch& launch, const Coordinates& first) override;
    void block_ends() override;
    void block_synchronized(const Launch& launch, const Coordinates& one,
                            std::span<const ThreadState> states) override;
    void warp_synchronized(unsigned thread, unsigned mask) override;
    void lane_exited(const Launch& launch, const Coordinates& reader,
                     const ThreadState& state, int from) override;
    void block_stuck(const Launch& launch, const Coordinates& one,
                     std::span<const ThreadState> states) override;

  private:
    const void* call_of(uint64_t operation);
    Place place_of(const Launch& launch, const Coordinates& one,
                   std::span<const ThreadState> states, size_t thread) const;

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

}  // namespace mini::sim
