// A small process that tidies up after minirun, also when minirun is killed with -9.
//
//     minirun ---- "rank's group 4711 begins", "4711 has ended", "remove FOLDER" ----> caretaker
//        '-- dies: the connection ends --> kills the groups that have not ended,
//                                          removes the folder
//
// The kernel kills a rank when minirun dies (PR_SET_PDEATHSIG), but not what the rank has
// started: `minirun sh -c 'prog; true'` would leave prog. A process keeps the number of
// its group from going to others, so the number is right as long as there is one to kill.

#pragma once

#include <sys/types.h>

#include <string>

#include "libmini/core/descriptor.hpp"

namespace mini::tools {

class Caretaker {
  public:
    /// Starts the process. REQUIRES: no other thread. Throws Error.
    Caretaker();

    /// Lets it do what is left to do, and waits for its end.
    ~Caretaker();
    Caretaker(const Caretaker&) = delete;
    Caretaker& operator=(const Caretaker&) = delete;

    /// From now on the group is to be killed. May be called between fork and exec.
    void group_begins(pid_t group) const;

    /// The group has been killed or is to be left alone.
    void group_ended(pid_t group) const;

    /// From now on the folder is to be removed.
    void will_remove(const std::string& folder) const;

    /// The folder is to stay.
    void will_keep_folder() const;

  private:
    pid_t pid_ = -1;
    Descriptor connection_;
};

}  // namespace mini::tools
