// Counts the loads, stores and atomics of kernels, and checks whether the memory is
// accessible, whether it is initialised, and whether the access is ordered with the
// accesses of other threads.
//
// The shared arrays of all functions lie side by side, so an index that is too large may reach
// another array, and the address alone does not show the mistake. Therefore an instruction may
// only access arrays of the function whose array it accessed first. An access to another array
// of the same function is not found.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/order.hpp"
#include "libmini/extras/cudasim/race_checker.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

class AccessChecker {
  public:
    /// Without `findings`, accesses are not checked; without `log`, they are not counted.
    /// REQUIRES: the arguments outlive this object.
    AccessChecker(Findings* findings, AccessLog* log, Execution& execution,
                  MemoryMap& memory);

    /// Checks the operation if it is a copy or a fill, which accesses all its bytes in
    /// one step. REQUIRES: Execution::begin() was called for the operation.
    void begin_operation(const Operation& operation);

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
    bool is_shared(const void* pointer) const;
    // Where an access in or near the block's shared memory goes.
    enum class Shared {
        kInside,        // inside of a permitted array, or of the dynamic shared memory
        kOutside,       // outside of them
        kOtherVariable  // a read of a thread-local variable that is not a shared array
    };
    // An instruction, and an array that it may access.
    struct Permitted {
        const void* address = nullptr;
        uintptr_t begin = 0;
        size_t bytes = 0;
    };

    Shared place_in_shared(const MemoryAccess& access);
    bool strays(const SharedArray* array, const void* address) const;
    const SharedArray* nearest_array(uintptr_t at, const void* address) const;
    std::string outside_of_shared(const MemoryAccess& access) const;
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
    std::map<const void*, const SharedArray*> array_of_;  // by instruction address
    std::array<Permitted, 256> recent_;                   // by instruction address % 256
    std::optional<RaceChecker> races_;                    // empty without findings
};

}  // namespace mini::sim
