// One rank: a child process that leads a process group of its own, with its output in two
// pipes.
//
//     minirun --fork--> child --exec--> PROGRAM ----> what PROGRAM itself starts
//                       |_________ process group of the rank _________________|
//
// A signal goes to the whole group. Should minirun die first, the kernel kills the rank
// (PR_SET_PDEATHSIG), and the caretaker, who knows of the group before PROGRAM runs,
// kills what PROGRAM has started: even kill -9 leaves no process of the group behind. One
// that has left the group, as daemons do, is out of reach. A process that has ended is a
// zombie until it is reaped, and so long no other process gets its number: we signal
// before reaping, and therefore never anyone but our own.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"
#include "libmini/tools/minirun/caretaker.hpp"
#include "libmini/tools/minirun/environment.hpp"

namespace mini::tools {

/// How a process ended: by exit(code), or killed by a signal.
struct Exit {
    bool by_signal = false;
    int number = 0;  // the code, or the signal

    bool failed() const { return by_signal || number != 0; }

    /// The shell's exit code: 128 + signal when one killed it.
    int code() const { return by_signal ? 128 + number : number; }

    /// "exit code 3", "SIGKILL".
    std::string text() const;
};

/// "SIGINT" for 2.
std::string signal_name(int number);

/// A program that could not be started: missing, or not executable.
class CannotStart : public Error {
  public:
    using Error::Error;
};

class Child {
  public:
    /// Starts command[0], found as a shell would find it, with stdin empty and stdout and
    /// stderr in pipes. Blocks until the program runs. Throws CannotStart when it cannot.
    /// Tells `caretaker`, which must outlive this, of the group.
    Child(const std::vector<std::string>& command, const Environment& environment,
          const Caretaker& caretaker);

    /// Kills the group when it has not ended yet.
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;

    pid_t pid() const { return pid_; }

    /// The reading ends of its output, non-blocking; to be moved out by the caller.
    Descriptor& out() { return out_; }
    Descriptor& err() { return err_; }

    /// Sends `signal` to the rank and to what it started; nothing when it was reaped.
    void send(int signal) const;

    /// Whether the program has ended. Does not block, and leaves it to be reaped.
    bool has_ended() const;

    /// Kills what the rank left behind in its group and collects how the rank ended.
    /// REQUIRES: has_ended().
    Exit reap();

  private:
    void kill_group() const;

    const Caretaker* caretaker_;
    pid_t pid_ = -1;  // -1: reaped
    Descriptor out_;
    Descriptor err_;
};

}  // namespace mini::tools
