// What each rank of a scene does: its steps, and the victim the fault.

#pragma once

#include <functional>
#include <memory>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "tests/faults/board.hpp"
#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

/// What a rank is: that decides what can be done to it.
enum class Body {
    kProcess,     // may be killed and stopped
    kThread,      // returns and sleeps instead
    kMpiProcess,  // may be killed; sleeps instead of being stopped
};

/// Joins by `join` and plays the rank in `slot` of the board, where it leaves what it
/// threw.
void play_rank(const std::function<std::shared_ptr<QueuedGroup>()>& join, int slot,
               const Scenario& scenario, Board& board, Body body);

/// The group that init_process_group(options) makes, no default group any more.
std::shared_ptr<QueuedGroup> joined(const InitOptions& options);

}  // namespace mini::dist::faults
