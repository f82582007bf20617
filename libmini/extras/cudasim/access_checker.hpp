// Counts the loads, stores and atomics of kernels, and checks whether the memory is
// accessible, whether it is initialised, and whether the access is ordered with the
// accesses of other threads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/order.hpp"
#include "libmini/extras/cudasim/race_checker.hpp"
#include "libmini/extras/cudasim/shared_bounds.hpp"

namespace mini::sim {

class AccessChecker {
  public:
    /// Without `findings`, accesses are not checked; without `log`, they are not counted.
    /// REQUIRES: the arguments outlive this object.
    AccessChecker(Findings* findings, AccessLog* log, Execution& execution,
                  MemoryMap& memory);

    /// Checks the operation if it is a copy or a fill, which accesses all its bytes in
    /// one step. REQUIRES: Execution::begin() was called for the operation.
    void begin_operation(const OperationInfo& info);

    /// Called before each block, and before Execution::begin_block().
    void begin_block() {
        if (races_) races_->forget_accesses();
    }

    /// Called after each block.
    void end_block() {
        if (races_) races_->settle();
    }

    /// Checks and counts an access of the running thread to memory that is not its stack.
    /// Returns false if a GPU would end the kernel here.
    bool access(const MemoryAccess& access);

  private:
    bool starts_kernels(const void* address);
    bool is_shared(const void* pointer) const;
    bool access_global(const MemoryAccess& access);
    bool access_shared(const MemoryAccess& access);
    bool access_other(const MemoryAccess& access);
    void count(const MemoryAccess& access, bool shared);
    bool reject(Mistake mistake, const void* address, const std::string& message);
    bool reject_misaligned(const MemoryAccess& access, bool shared);

    Findings* findings_;
    AccessLog* log_;
    Execution& execution_;
    MemoryMap& memory_;
    Region devices_;  // all device memory and pinned memory
    SharedBounds shared_bounds_;
    std::unordered_map<const void*, bool> starts_kernels_;  // by instruction address
    std::optional<RaceChecker> races_;                      // empty without findings
};

}  // namespace mini::sim
