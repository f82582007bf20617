// The processes of a scene: starts, watches and reaps them.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "libmini/distributed/net/deadline.hpp"
#include "tests/faults/board.hpp"
#include "tests/faults/scene.hpp"

namespace mini::dist::faults {

/// The maximum duration of a scene.
constexpr std::chrono::seconds kPatience(12);

/// Forks a process that runs `body` and exits. Returns its process id.
pid_t start_process(const std::function<void()>& body);

/// Blocks until a child exits or stops, at most until the deadline. REQUIRES: SIGCHLD is
/// blocked.
void wait_for_a_child(Deadline deadline);

/// Blocks until all processes have ended. Continues a paused process. Kills a process
/// that stays stopped, when the other processes have exited. Kills all processes and
/// returns false after kPatience.
bool watch(std::vector<pid_t> processes, const Scenario& scenario);

/// Returns the outcome from the board, after all processes have exited.
Outcome outcome_of(const Board& board, const Scenario& scenario, bool hung);

}  // namespace mini::dist::faults
