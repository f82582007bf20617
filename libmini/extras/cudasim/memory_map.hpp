// Finds the allocation, or the shared array of the running block, that contains an
// address which a kernel accesses.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

/// Returns "allocation 3", and the source line that made it if that is known.
std::string name(const Allocation& allocation);

class MemoryMap {
  public:
    /// Called on any thread, when memory is allocated or freed.
    void memory_changed() { memory_changed_ = true; }

    // Called on the thread that runs the kernel.

    /// Of the running block: the thread-local variables, which contain the shared arrays, the
    /// dynamic shared memory, and the kernel's short name.
    Region variables, dynamic;
    std::string kernel;

    /// Returns the allocation that find_allocation() (memory.hpp) finds for an address:
    /// the allocation that contains the address, or else the last allocation before it; one
    /// of id 0 if there is none. The reference is valid until the next call.
    const Allocation& allocation_at(uintptr_t at);

    /// Returns whether all writes to an allocation were checked: it is younger than this.
    bool tracks(const Allocation& allocation) const {
        return allocation.id > last_untracked_ && allocation.device != kPinned;
    }

    /// Returns the last shared array that begins at or before an address of `variables`, or
    /// null.
    const SharedArray* array_before(uintptr_t at) const;

    /// Returns a text like "byte 12 of allocation 3, made at a.cu:9 (40 bytes)". `shared` is whether the
    /// address is in shared memory. An array that the kernel does not declare itself is
    /// described with the function that declares it.
    std::string describe(uintptr_t at, bool shared);

  private:
    const uint64_t last_untracked_ = last_allocation();
    std::atomic<bool> memory_changed_{false};
    std::vector<Allocation> recent_;
};

}  // namespace mini::sim
