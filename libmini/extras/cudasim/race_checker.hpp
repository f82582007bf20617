// Keeps the last accesses of each address in shadow memory, and reports reads of
// uninitialised memory and accesses that no barrier, event or wait orders.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/shadow.hpp"

namespace mini::sim {

/// The bytes of one access.
struct AccessedRange {
    uintptr_t at = 0;
    size_t bytes = 0;
    bool shared = false;   // in shared memory
    bool tracked = false;  // whether all writes to the memory were checked
    uintptr_t word = 0;    // the address of the word that is being checked
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
    void visit(AccessedRange range, Mode mode, Accessor now);

    /// Reports the writes that followed another thread's write without an order: as a race,
    /// or as a note if they did not change the value. Called before the next access of any
    /// thread and at the end of a block, when the last write is done.
    void settle() {
        if (!conflicts_.empty()) report_conflicts();
    }

    /// Checks the running copy or fill, which accesses all its bytes in one step.
    void visit_copy(const Operation& copy);

  private:
    static constexpr size_t kFewAccesses = 1'000'000;

    template <typename Visit>
    void each_word(const AccessedRange& range, const Visit& visit);
    bool follows_own_write(Accessor atomic, Accessor write) const;
    void keep_read(Cell& cell, Accessor now);
    void check_order(Accessor earlier, bool earlier_wrote, Accessor now, Mode mode,
                     const AccessedRange& range);
    void report_conflicts();
    void report(Mistake mistake, Accessor earlier, const char* did, Accessor now,
                const std::string& what);
    void copy_initialised(uintptr_t to, uintptr_t from, size_t bytes);

    // A plain write after another thread's plain write, and the value before it.
    struct Conflict {
        Accessor earlier, now;
        AccessedRange range;
        uint32_t value = 0;
    };

    Findings& findings_;
    Execution& execution_;
    MemoryMap& memory_;
    Shadow shadow_;
    std::vector<Conflict> conflicts_;  // of the last access
    size_t max_accesses_ = kFewAccesses;
};

}  // namespace mini::sim
