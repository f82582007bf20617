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

    /// Forgets accesses that no word needs any more, if they have become many. Called
    /// between two blocks.
    void forget_accesses();

    /// Checks one access of the running thread or operation, and records it.
    void visit(const AccessedRange& range, Mode mode, Accessor now);

    /// Checks the running copy or fill, which accesses all its bytes in one step.
    void visit_copy(const OperationInfo& info);

  private:
    static constexpr size_t kFewAccesses = 1'000'000;

    template <typename Visit>
    void each_word(const AccessedRange& range, const Visit& visit);
    void keep_read(Cell& cell, Accessor now);
    void check_order(Accessor earlier, bool earlier_wrote, Accessor now, Mode mode,
                     const AccessedRange& range);
    void copy_initialised(uintptr_t to, uintptr_t from, size_t bytes);

    Findings& findings_;
    Execution& execution_;
    MemoryMap& memory_;
    Shadow shadow_;
    size_t max_accesses_ = kFewAccesses;
};

}  // namespace mini::sim
