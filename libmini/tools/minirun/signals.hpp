// The signals that minirun handles, so that no signal ends minirun and, with it, the
// ranks without a report.
//
//     SIGINT, SIGTERM, SIGHUP, SIGQUIT     end the job; the ranks get the same signal
//     SIGUSR1, SIGUSR2                     passed on to the processes that handle them
//     SIGTSTP                              stops the ranks, then minirun itself
//     SIGCONT                              continues the ranks
//     SIGXFSZ                              ignored: the write fails
//     SIGALRM, SIGPIPE, SIGXCPU, ...       end the job; the ranks get SIGTERM
//
// Batch systems announce the end of a job with SIGUSR1 or SIGUSR2: a rank can save a
// checkpoint, and a program that does not handle the signal must not be killed by it.
// After Ctrl-Z the terminal sends SIGTSTP to minirun only, because each rank
// has a process group of its own; SIGCONT arrives when the user continues the job.

#pragma once

#include <sys/types.h>

#include "libmini/core/descriptor.hpp"

namespace mini::tools {

/// Returns the signal that ends the ranks if minirun gets the ending signal `signal`:
/// SIGTERM instead of a signal that concerns only minirun (SIGPIPE: the reader of its
/// output has gone) or that programs do not expect.
int ending_signal_for_ranks(int signal);

/// Sends `signal` to each process of the process group `group` that has a handler for the
/// signal. Returns the number of these processes.
int send_to_handlers(pid_t group, int signal);

/// Blocks SIGCHLD and the signals that minirun handles, and returns a non-blocking
/// signalfd for them. Signals that are ignored at the start (nohup) stay ignored. The
/// signals that are passed on get an empty handler, by which the minirun that started
/// this one finds that it handles them. Throws Error.
Descriptor open_signals();

}  // namespace mini::tools
