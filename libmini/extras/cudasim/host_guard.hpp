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

#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/report.hpp"

namespace mini::sim {

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

    void protect_devices(int protection);
    void protect(const Pending& pending, bool open);

    Findings* findings_;
    std::recursive_mutex mutex_;
    // By device, by begin: the allocations that live, in bytes.
    std::map<int, std::map<const std::byte*, size_t>> living_;
    std::vector<Pending> pending_;
    int running_ = 0;
};

}  // namespace mini::sim
