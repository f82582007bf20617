// Finds the allocation, or the shared array of the running block, that contains an
// address which a kernel accesses.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

class MemoryMap {
  public:
    /// An allocation; empty if no allocation was found.
    struct Target {
        Allocation allocation;
        bool tracked = false;  // whether all writes to the memory were checked
    };

    // Called on any thread.
    void allocated(const Allocation& allocation);
    void freed() { memory_changed_ = true; }

    // Called on the thread that runs the kernel.

    /// Of the running block: the thread-local variables, which contain the shared arrays, the
    /// dynamic shared memory, and the kernel's short name.
    std::span<std::byte> variables, dynamic;
    std::string kernel;

    /// Returns the allocation that find_allocation() (memory.hpp) finds for an address:
    /// the allocation that contains the address, or else the last allocation before it.
    /// The reference is valid until the next call.
    const Target& target_at(uintptr_t at);

    /// Returns the shared array at an address of variables(), or null.
    const SharedArray* array_at(uintptr_t at) const;

    /// Returns a text like "byte 12 of allocation 3 (40 bytes)". `shared` is whether the
    /// address is in shared memory. An array that the kernel does not declare itself is
    /// described with the function that declares it.
    std::string describe(uintptr_t at, bool shared);

  private:
    std::atomic<uint64_t> first_tracked_{
        0};  // id of the first allocation seen; 0: none yet
    std::atomic<bool> memory_changed_{false};
    std::vector<Target> recent_;
};

}  // namespace mini::sim
