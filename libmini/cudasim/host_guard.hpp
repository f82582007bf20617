// Tells when the host touches memory that is not its own, by the processor's own protection.
//
//     device memory     closed to the host while nothing runs
//     pinned memory     closed while a copy into it was given and not waited for, and not
//                       to be written while a copy out of it is under way
//
// The host's access then faults; the fault is noted with its line, the page is opened, and
// the program goes on. While an operation runs, on whatever thread, all is open.

#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "libmini/cudasim/allocation.hpp"
#include "libmini/cudasim/findings.hpp"
#include "libmini/cudasim/observer.hpp"
#include "libmini/cudasim/order.hpp"

namespace mini::sim {

/// The place in the program, outside of the simulator and of libmini's runtime, that called
/// what runs now. Null when it is not known.
const void* calling_place();

class HostGuard {
  public:
    /// Takes the handler of SIGSEGV, and gives it back at the end.
    explicit HostGuard(Findings* findings);
    ~HostGuard();
    HostGuard(const HostGuard&) = delete;
    HostGuard& operator=(const HostGuard&) = delete;

    void allocated(const Allocation& allocation);
    void given(const OperationInfo& info);
    void begins(const OperationInfo& info);
    void ends(const OperationInfo& info);
    void waited(const Clock& clock);

    /// Whether the fault at `pointer` was the guard's doing, and the access may be done again.
    bool handle(const void* pointer, const void* address);

  private:
    // Pinned memory that an operation will write, or read.
    struct Pending {
        std::byte* begin = nullptr;
        size_t bytes = 0;
        bool written = false;
        Stamp stamp;
    };

    void close_devices();
    void open_devices();
    void protect(const Pending& pending, bool open);

    Findings* findings_;
    std::recursive_mutex mutex_;
    std::set<int> devices_;  // that have memory
    std::vector<Pending> pending_;
    int running_ = 0;
};

}  // namespace mini::sim
