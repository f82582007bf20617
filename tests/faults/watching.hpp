// The processes of a scene: started, watched, buried.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "libmini/distributed/net/deadline.hpp"
#include "tests/faults/board.hpp"
#include "tests/faults/scene.hpp"

namespace mini::dist::faults {

/// How long a scene may take.
constexpr std::chrono::seconds kPatience(12);

/// A process of the scene; `body` is all it does.
pid_t start_process(const std::function<void()>& body);

/// Sleeps until a child has changed, or until the deadline.
void wait_for_a_child(Deadline deadline);

/// Reaps all of them, continues or ends those that have stopped; false when the watchdog
/// had to end them.
bool watch(std::vector<pid_t> processes, const Scenario& scenario);

/// What the board tells when all are gone.
Outcome outcome_of(const Board& board, const Scenario& scenario, bool hung);

}  // namespace mini::dist::faults
