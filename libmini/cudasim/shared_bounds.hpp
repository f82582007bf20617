// Finds accesses outside of shared arrays. The arrays of a block lie side by side, so an
// index that is too large reaches the next array: an address alone does not show it. Each
// instruction therefore keeps to the array that it accessed first.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "libmini/cudasim/execution.hpp"
#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/memory_map.hpp"
#include "libmini/cudasim/symbols.hpp"

namespace mini::sim {

class SharedBounds {
  public:
    enum class Result {
        kInside,        // of the instruction's shared array, or of the dynamic memory
        kOutside,       // of it
        kOtherVariable  // a read of a thread-local variable that is not a shared array
    };

    /// REQUIRES: the arguments outlive this object.
    SharedBounds(const Execution& execution, const MemoryMap& memory)
        : execution_(execution), memory_(memory) {}

    void begin_operation() { array_of_.clear(); }

    /// Checks an access in or near the block's shared memory by the instruction at
    /// `address`.
    Result check(uintptr_t at, size_t bytes, Mode mode, const void* address);

    /// Describes an address that is outside: relative to the instruction's own array, or
    /// to the nearest one.
    std::string describe_outside(uintptr_t at, const void* address) const;

  private:
    bool strays(const SharedArray* array, const void* address) const;
    const SharedArray* nearest_array(uintptr_t at, const void* address) const;

    const Execution& execution_;
    const MemoryMap& memory_;
    std::map<const void*, const SharedArray*> array_of_;  // by instruction address
};

}  // namespace mini::sim
