// A small process that cleans up after minirun, even if minirun is killed with SIGKILL.
//
//     minirun, children before exec ---- "group 4711 begins", ... ---- cleaner
//        '-- all have died: the socket closes --> kills the groups that have not ended,
//                                                 removes the folder
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

class Cleaner {
  public:
    /// Starts the process, which will remove `folder`; "" for none. Throws Error.
    /// REQUIRES: no other thread is running.
    explicit Cleaner(const std::string& folder);

    /// Closes the socket, and blocks until the process has cleaned up and ended.
    ~Cleaner();
    Cleaner(const Cleaner&) = delete;
    Cleaner& operator=(const Cleaner&) = delete;

    /// Registers a process group to be killed. May be called between fork and exec.
    void group_begins(pid_t group) const { send({'+', group}); }

    /// Unregisters a process group.
    void group_ended(pid_t group) const { send({'-', group}); }

    /// Makes the process leave the folder.
    void keep_folder() const { send({'k', 0}); }

  private:
    struct Message {
        char what;  // '+': the group begins; '-': it has ended; 'k': keep the folder
        pid_t group;
    };
    void send(Message message) const;
    static void clean_up_after(const Descriptor& socket, std::string folder);

    pid_t pid_ = -1;
    Descriptor socket_;
};

}  // namespace mini::tools
