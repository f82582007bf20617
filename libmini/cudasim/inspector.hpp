// Checks every load and store of every kernel, and records mistakes and traffic.
//
// An observer of the simulator (observer.hpp) that hooks.hpp calls for each access. While
// an observer is set, blocks run one after another, so that the reports are
// deterministic.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libmini/cudasim/access_log.hpp"
#include "libmini/cudasim/allocation.hpp"
#include "libmini/cudasim/block_order.hpp"
#include "libmini/cudasim/findings.hpp"
#include "libmini/cudasim/host_guard.hpp"
#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/observer.hpp"
#include "libmini/cudasim/order.hpp"
#include "libmini/cudasim/shadow.hpp"
#include "libmini/cudasim/symbols.hpp"

namespace mini::sim {

class Inspector final : public Observer {
  public:
    /// Each argument may be null: without `findings` accesses are not checked, without
    /// `log` they are not counted, and without `guard` the host's accesses are not
    /// checked.
    Inspector(Findings* findings, AccessLog* log, HostGuard* guard)
        : findings_(findings), log_(log), guard_(guard) {}

    // Called by the hooks, on the fiber of the simulated thread.

    /// Checks and counts an access. Returns false if a GPU would end the kernel here.
    bool access(const void* pointer, size_t bytes, Mode mode, const void* address);
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
    // An operation that has begun. Kept because accesses in the shadow memory refer to
    // it.
    struct Known {
        std::string kernel;  // or "a copy", "a fill"
        Stamp stamp;
        dim3 grid, block;
        bool is_kernel = false;
        const void* call = nullptr;  // the address that called the copy or fill
    };

    struct Hit {
        Allocation allocation;
        bool tracked = false;  // whether every write since the allocation was seen
    };

    bool access_global(uintptr_t at, size_t bytes, Mode mode, const void* address);
    bool access_shared(uintptr_t at, size_t bytes, Mode mode, const void* address);
    bool access_other(uintptr_t at, size_t bytes, Mode mode, const void* address);
    bool strays(const SharedArray* array, const void* address) const;
    bool outside_shared(uintptr_t at, size_t bytes, Mode mode, const void* address);
    void visit(uintptr_t at, size_t bytes, Mode mode, const Access& access, bool shared,
               bool tracked);
    void judge_order(const Access& earlier, const Access& now, Mode mode, uintptr_t at,
                     bool shared, bool earlier_wrote);
    bool before(const Access& earlier) const;
    void copy_initialised(uintptr_t to, uintptr_t from, size_t bytes);

    Access this_access(Mode mode, const void* address) const;
    Party here(const void* address) const;
    Party party(const Access& access) const;
    void report(Mistake mistake, const void* at, const Party& other, std::string message);
    std::string place_name(uintptr_t at, bool shared);
    Hit hit(uintptr_t at);
    const SharedArray* array_at(uintptr_t at) const;

    Findings* findings_;
    AccessLog* log_;
    HostGuard* guard_;

    std::mutex given_mutex_;
    std::map<uint64_t, const void*> given_;  // calls of copies and fills, by operation id
    std::mutex running_;                     // one kernel, copy or fill at a time
    std::vector<Known> known_{1};            // by Access::operation; [0] is unused
    std::atomic<uint64_t> first_tracked_{
        0};  // id of the first allocation seen; 0: none yet
    std::atomic<bool> memory_changed_{false};

    // The running operation and block.
    OperationInfo info_;
    uint32_t operation_ = 0;
    Shadow shadow_;
    BlockOrder order_;
    std::vector<Hit> recent_;
    std::span<std::byte> variables_, dynamic_;
    bool abandoned_ = false;
    std::map<const void*, const SharedArray*> array_of_;  // by instruction address
};

/// The inspector of the block that runs on this host thread, or null.
Inspector*& inspecting();

}  // namespace mini::sim
