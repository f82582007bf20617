// A small process that cleans up after minirun, even if minirun is killed with SIGKILL.
//
//     minirun ---- process groups, folder: in shared memory ---- watchdog
//        '-- dies: the pipe closes --> kills the groups that have not ended,
//                                      removes the folder
//
// The kernel kills a rank when minirun dies (PR_SET_PDEATHSIG), but not the processes
// that the rank has started: `minirun sh -c 'prog; true'` would leave prog running. A
// group id is not reused while the group has a process, so killing by group id is safe as
// long as a process is left.

#pragma once

#include <sys/types.h>

#include <string>

#include "libmini/core/descriptor.hpp"

namespace mini::tools {

class Watchdog {
  public:
    /// Starts the process. Throws Error. REQUIRES: no other thread is running.
    Watchdog();

    /// Closes the pipe, and blocks until the process has cleaned up and ended.
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Registers a process group to be killed. May be called between fork and exec.
    void group_begins(pid_t group) const;

    /// Unregisters a process group.
    void group_ended(pid_t group) const;

    /// Registers the folder to be removed; "" for none.
    void will_remove(const std::string& folder) const;

  private:
    struct Shared;

    Shared* shared_ = nullptr;
    pid_t pid_ = -1;
    Descriptor pipe_;
};

}  // namespace mini::tools
