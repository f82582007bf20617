// A small process that cleans up after minirun, even if minirun is killed with SIGKILL.
//
//     minirun -- "group 4711 begins", "4711 has ended", "remove FOLDER" --> caretaker
//        '-- dies: the connection closes --> kills the groups that have not ended,
//                                            removes the folder
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

class Caretaker {
  public:
    /// Starts the caretaker process. Throws Error. REQUIRES: no other thread is running.
    Caretaker();

    /// Closes the connection, and blocks until the caretaker has cleaned up and ended.
    ~Caretaker();
    Caretaker(const Caretaker&) = delete;
    Caretaker& operator=(const Caretaker&) = delete;

    /// Registers a process group to be killed. May be called between fork and exec.
    void group_begins(pid_t group) const;

    /// Unregisters a process group.
    void group_ended(pid_t group) const;

    /// Registers the folder to be removed.
    void will_remove(const std::string& folder) const;

    /// Unregisters the folder.
    void will_keep_folder() const;

  private:
    pid_t pid_ = -1;
    Descriptor connection_;
};

}  // namespace mini::tools
