// Checks every load and store of every kernel, or counts them.
//
// The functions of hooks.hpp call it for each access, operation, block and barrier. While an
// inspector is set, blocks run one after another, so that the reports are deterministic; if it
// checks, in an order drawn from a seed.
//
// The shared arrays of all functions lie side by side, so an index that is too large may reach
// another array, and the address alone does not show the mistake. Therefore an instruction may
// only access arrays of the function whose array it accessed first.
//
// Blocks run one after another, so a thread that waits for a block that has not begun waits
// forever; on a GPU it may, if that block is not resident. A thread spins if it reads the same
// value at the same address again and again, and accesses nothing else. From time to time it
// lets the other threads of its block run.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/race_checker.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {

// Detects invalid accesses of the host to device memory and pinned memory, with page
// protection.
//
//     device memory    not accessible while no operation runs
//     pinned memory    not accessible from the call of a copy into it until the host has
//                      waited for the copy; read-only while a copy out of it is in flight
//
// An invalid access raises SIGSEGV; the handler records it with its source line,
// unprotects the page, and resumes the program. While an operation runs, on any thread,
// all pages are accessible.

class HostGuard {
  public:
    /// Installs a handler of SIGSEGV; the destructor restores the previous one.
    explicit HostGuard(Findings* findings);
    ~HostGuard();

    void allocated_or_freed(const Allocation& allocation);
    void given(const Operation& operation);
    void begins();
    void ends();
    void waited(const Clock& clock);

    /// Handles a fault at `pointer`, raised by the instruction at `address`. If the
    /// guard's protection caused the fault, records it, unprotects the page, and returns
    /// true: the access can be retried. Else returns false.
    bool handle(const void* pointer, const void* address);

  private:
    // Pinned memory that a submitted operation reads or writes.
    struct Pending {
        std::byte* begin = nullptr;
        size_t bytes = 0;
        bool written = false;
        Stamp stamp;
        const void* call = nullptr;  // that submitted the operation
    };

    void protect_all(bool open);
    void protect(const Pending& pending, bool open);

    Findings* findings_;
    std::recursive_mutex mutex_;
    // By device: from the first allocation to the end of the last.
    std::map<int, std::pair<std::byte*, std::byte*>> used_;
    std::vector<Pending> pending_;
    int running_ = 0;
};

/// The program's inspector, from its construction to its destruction.
struct Inspector {
    /// Checks accesses if `checks`, else counts them.
    explicit Inspector(bool checks);
    ~Inspector() { installed_inspector = before_; }

    /// What a thread does after an access: it continues, lets the other threads of its block
    /// run first, or ends because a GPU would end the kernel here.
    enum class Next { kContinue, kYield, kAbandon };

    /// Checks or counts an access.
    Next access(const MemoryAccess& access);

    /// Adds a finding of the running thread and abandons the kernel; returns false.
    bool reject(Mistake mistake, const void* address, const std::string& message);
    /// The same of an access.
    bool refuse(const MemoryAccess& access, Mistake mistake, const auto&... parts) {
        return reject(mistake, access.address,
                      concat(verb(access.mode), " ", access.bytes, " bytes ", parts...));
    }

    Next poll(const MemoryAccess& access);
    bool is_shared(const void* pointer) const;
    // The last value that a thread has read, and how often it has done so again.
    struct Poll {
        const void* pointer = nullptr;
        uint64_t value = 0;
        uint32_t count = 0;
    };

    // These return whether a GPU would not end the kernel at the access.
    bool access_global(const MemoryAccess& access);
    bool access_shared(const MemoryAccess& access);
    bool access_other(const MemoryAccess& access);
    bool observe(const MemoryAccess& access, bool shared, bool tracked);

    const bool checks_;
    Inspector* const before_ = installed_inspector;
    Findings findings_;
    AccessLog log_;
    std::optional<HostGuard> guard_;  // checks the host's accesses; empty if it counts

    std::mutex running_;  // held by the running kernel, copy or fill
    MemoryMap memory_;
    RaceChecker races_{findings_, memory_};  // if it counts, knows the operations only
    const Region devices_ = all_memory();    // of devices and pinned
    // By instruction address: the shared array that it accessed first.
    std::unordered_map<const void*, const SharedArray*> array_of_;
    std::vector<Poll> polls_;  // by thread
    // Whether the block continues after grid.sync(): blocks share the shadows of shared memory,
    // so what it has written before is not known.
    bool continues_ = false;
};

}  // namespace mini::sim
