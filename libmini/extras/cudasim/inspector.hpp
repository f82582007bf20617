// Checks every load and store of every kernel, and records mistakes and traffic.
//
// The functions of hooks.hpp call it for each access, operation, block and barrier. While an
// inspector is set, blocks run one after another, so that the reports
// are deterministic; with findings, in an order drawn from a seed.
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
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/execution.hpp"
#include "libmini/extras/cudasim/host_guard.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/memory_map.hpp"
#include "libmini/extras/cudasim/order.hpp"
#include "libmini/extras/cudasim/race_checker.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/spins.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

struct Inspector {
    /// Each argument may be null: without `findings`, accesses are not checked; without
    /// `log`, accesses are not counted.
    Inspector(Findings* findings, AccessLog* log);

    /// Checks and counts an access.
    Next access(const MemoryAccess& access);
    void exchange(unsigned mask, int from, const void* address);

    Place place_of(size_t thread, const void* return_address);

    // Returns whether a GPU would not end the kernel at an access to memory that is not the
    // thread's stack.
    bool may_access(const MemoryAccess& access);
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
        const SharedArray* array = nullptr;
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
    std::optional<HostGuard>
        guard_;  // checks the host's accesses; empty without findings

    std::mutex running_;  // held by the running kernel, copy or fill
    Execution execution_;
    MemoryMap memory_;
    Region devices_;  // all device memory and pinned memory
    std::map<const void*, const SharedArray*> array_of_;  // by instruction address
    std::array<Permitted, 256> recent_;                   // by instruction address % 256
    std::optional<RaceChecker> races_;                    // empty without findings
    Spins spins_;
};

}  // namespace mini::sim
