// Keeps the last accesses of each address in shadow memory, and reports reads of
// uninitialised memory and accesses that no barrier, event or wait orders.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/shadow.hpp"

namespace mini::sim {

/// The bytes of one access.
struct AccessedRange {
    uintptr_t at = 0;
    size_t bytes = 0;
    bool shared = false;   // in shared memory
    bool tracked = false;  // whether all writes to the memory were checked
};

class RaceChecker {
  public:
    /// REQUIRES: the arguments outlive this object.
    RaceChecker(Findings& findings, Execution& execution, MemoryMap& memory)
        : findings_(findings), execution_(execution), memory_(memory) {}

    /// Checks one access of the running thread or operation, and records it.
    void visit(const AccessedRange& range, Mode mode, const Access& access);

    /// Checks the running copy or fill, which accesses all its bytes in one step.
    void visit_copy(const OperationInfo& info);

  private:
    template <typename Visit>
    void each_word(const AccessedRange& range, const Visit& visit);
    void keep_read(Cell& cell, const Access& now);
    void check_order(const Access& earlier, bool earlier_wrote, const Access& now,
                     Mode mode, const AccessedRange& range);
    void copy_initialised(uintptr_t to, uintptr_t from, size_t bytes);

    Findings& findings_;
    Execution& execution_;
    MemoryMap& memory_;
    Shadow shadow_;
};

}  // namespace mini::sim
