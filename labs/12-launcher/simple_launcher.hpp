// simple::launch: the ranks of a job on one host, from their start to their end.
//
//     launch --fork--> child --exec--> PROGRAM       once for each rank
//       |                                 |
//       '<--------- lines --- pipe -------'          stdout and stderr
//
// libmini's minirun also starts jobs on several hosts, passes on the user's signals, has
// restarts and logs, and tells causes from consequences.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace simple {

/// How a rank ended: with an exit code, or by a signal.
struct End {
    int rank = 0;
    bool by_signal = false;
    int number = 0;  // the exit code, or the signal
    bool operator==(const End&) const = default;
};

struct Options {
    int ranks = 1;
    std::vector<std::string> command;       // the program, and its arguments
    std::chrono::milliseconds grace{5000};  // between SIGTERM and SIGKILL
};

/// Receives a line of a rank's output, without its newline.
using Show = std::function<void(int rank, const std::string& line)>;

/// Runs the program once for each rank, at the same time; blocks until all ranks have ended,
/// and uses no CPU time while no rank writes or ends.
/// Returns the first failure, which is an exit code other than 0 or a signal; std::nullopt if
/// no rank failed. If launch sees several failures at the same time, it may return any of them.
///
/// A rank: its program is looked up in PATH. It has the caller's environment, and in it RANK
/// and LOCAL_RANK (0, 1, ...), WORLD_SIZE and LOCAL_WORLD_SIZE, in place of the caller's. Its
/// stdin is empty. It has no blocked signal, a process group of its own, and of the launcher's
/// pipes only its own. It ignores the signals that the caller ignores, and no others.
///
/// Output: `show` is called on the caller's thread for each line of stdout and stderr, as soon
/// as the line is complete, and for a last line without a newline. A rank's lines come in their
/// order. A rank that writes without end delays neither the lines of the others nor the end of
/// the job. Lines are shown until the last rank has ended, also after a failure.
///
/// End: after the first failure each group that still runs gets SIGTERM, and, when `grace` has
/// passed since that failure, SIGKILL. When a rank ends, what it has written is shown, and the
/// rest of its group gets SIGKILL; what that rest writes after the rank's end may be lost.
/// launch waits for no other process, even if that process has the rank's output open, or
/// writes to it without end.
///
/// Throws mini::Error, with the program's name and the reason, if it cannot be started.
/// If `show` throws an error, launch throws it, too. Leaves nothing behind, even if it throws: no
/// zombie and no open file, and each process of a rank's group has been sent SIGKILL. After it
/// the caller's environment, blocked signals and signal handlers are as before.
/// REQUIRES: ranks >= 1; the command is not empty; the caller has no other child processes, does
/// not ignore SIGCHLD, and has its descriptors 0, 1 and 2 open.
std::optional<End> launch(const Options& options, const Show& show);

}  // namespace simple
