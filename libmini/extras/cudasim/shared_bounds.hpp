// Finds accesses outside of shared arrays. The shared arrays of all functions lie side by
// side, so an index that is too large may reach another array, and the address alone does
// not show the mistake. Therefore an instruction may only access arrays of the function
// whose array it accessed first. An access to another array of the same function is not
// found.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

class SharedBounds {
  public:
    enum class Result {
        kInside,        // inside of a permitted array, or of the dynamic shared memory
        kOutside,       // outside of them
        kOtherVariable  // a read of a thread-local variable that is not a shared array
    };

    /// REQUIRES: the arguments outlive this object.
    SharedBounds(const Execution& execution, const MemoryMap& memory)
        : execution_(execution), memory_(memory) {}

    void begin_operation() {
        array_of_.clear();
        recent_ = {};
    }

    /// Checks an access in or near the block's shared memory.
    Result check(const MemoryAccess& access);

    /// Describes an access for which check() returned kOutside, relative to the array
    /// that the instruction accessed first, or else to the nearest array.
    std::string describe_outside(const MemoryAccess& access) const;

  private:
    // An instruction, and an array that it may access.
    struct Permitted {
        const void* address = nullptr;
        uintptr_t begin = 0;
        size_t bytes = 0;
    };

    bool strays(const SharedArray* array, const void* address) const;
    const SharedArray* nearest_array(uintptr_t at, const void* address) const;

    const Execution& execution_;
    const MemoryMap& memory_;
    std::map<const void*, const SharedArray*> array_of_;  // by instruction address
    std::array<Permitted, 256> recent_;                   // by instruction address % 256
};

}  // namespace mini::sim
