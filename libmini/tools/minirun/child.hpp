// One rank: a child process that leads its own process group. minirun reads the stdout
// and stderr of the rank from two pipes.
//
//     minirun --fork--> child --exec--> PROGRAM ----> processes that PROGRAM starts
//                       |_________ process group of the rank ____________________|
//
// minirun sends each signal to the whole group, but SIGUSR1 and SIGUSR2 only to the
// processes that handle them. If minirun dies first, the kernel kills the rank
// (PR_SET_PDEATHSIG), and the cleaner kills the processes that PROGRAM has started. The
// cleaner is notified of the group before PROGRAM runs, so no process of the group
// survives kill -9 of minirun. A process that has left the group, as daemons do, is not
// killed. An ended process is a zombie until it is reaped, and its pid is not reused
// until then. minirun signals a group only before reaping the group's leader, so a signal
// never reaches an unrelated process.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/tools/minirun/cleaner.hpp"

namespace mini::tools {

/// How a process ended: by exit(code), or killed by a signal.
struct Exit {
    bool by_signal = false;
    int number = 0;  // the exit code, or the signal

    bool failed() const { return by_signal || number != 0; }

    /// Returns the exit code that a shell reports: 128 + signal for a killed process.
    int code() const { return by_signal ? 128 + number : number; }

    /// Returns "exit code 3" or "SIGKILL".
    std::string text() const;
};

/// Returns "SIGINT" for 2.
std::string signal_name(int number);

/// Thrown if a program cannot be started, e.g. because it is missing or not executable.
class CannotStart : public Error {
  public:
    using Error::Error;
};

class Child {
  public:
    /// Starts the program command[0], looked up in PATH as a shell does, with an empty
    /// stdin and with pipes as stdout and stderr. Registers the process group with
    /// `cleaner`. Blocks until the program runs. Throws CannotStart if the program
    /// cannot be started. REQUIRES: `cleaner` outlives this object.
    Child(const std::vector<std::string>& command, const dist::Environment& environment,
          const Cleaner& cleaner);

    /// Kills the group and reaps the rank, if the rank has not been reaped.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }

    /// Returns the non-blocking read end of the rank's stdout or stderr. The caller may
    /// move the descriptor out.
    Descriptor& out() { return out_; }
    Descriptor& err() { return err_; }

    /// Sends `signal` to the rank's process group. Does nothing if the rank was reaped.
    void send(int signal) const;

    /// Returns whether the program has ended. Does not block, and does not reap the rank.
    bool has_ended() const;

    /// Kills the rest of the rank's process group, reaps the rank, and returns how it
    /// ended: by a signal, or with an exit code. Afterwards pid() is -1.
    /// REQUIRES: has_ended().
    Exit reap();

  private:
    void kill_group() const;

    const Cleaner& cleaner_;
    pid_t pid_ = -1;  // -1: reaped
    Descriptor out_;
    Descriptor err_;
};

}  // namespace mini::tools
