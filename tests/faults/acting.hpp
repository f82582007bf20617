// The actions of a rank of a scene: its steps and, on the victim, the fault.

#pragma once

#include <functional>
#include <memory>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "tests/faults/board.hpp"
#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

/// How a rank runs. Decides how the rank can be killed and stopped.
enum class Body {
    kProcess,  // is killed by SIGKILL, stopped by SIGSTOP
    kThread,   // returns instead of being killed, sleeps instead of being stopped
};

/// Runs one rank: calls `join` and then the rank's steps. Writes the text of the rank's
/// exception into `slot` of the board.
void play_rank(const std::function<std::shared_ptr<QueuedGroup>()>& join, int slot,
               const Scenario& scenario, Board& board, Body body);

/// Returns the group that init_process_group(options) creates. Afterwards this thread has
/// no default group.
std::shared_ptr<QueuedGroup> joined(const InitOptions& options);

}  // namespace mini::dist::faults
