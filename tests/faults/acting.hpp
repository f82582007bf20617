// What each rank of a scene runs: its steps and, on the victim, the fault.

#pragma once

#include <functional>
#include <memory>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "tests/faults/board.hpp"
#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

/// What a rank runs as, which decides the faults that are possible.
enum class Body {
    kProcess,     // may be killed and stopped
    kThread,      // returns and sleeps instead
    kMpiProcess,  // may be killed; sleeps instead of being stopped
};

/// Runs one rank: calls `join` and then the rank's steps. Writes the error that it threw
/// into `slot` of the board.
void play_rank(const std::function<std::shared_ptr<QueuedGroup>()>& join, int slot,
               const Scenario& scenario, Board& board, Body body);

/// Calls init_process_group(options) and returns the group, which is not the default
/// group.
std::shared_ptr<QueuedGroup> joined(const InitOptions& options);

}  // namespace mini::dist::faults
