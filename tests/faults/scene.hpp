// Runs a scenario: the ranks as processes or as threads of one process, with a watchdog.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

struct Outcome {
    std::vector<std::string> texts;  // by rank: text of the exception; "": none
    std::vector<std::optional<Timing>> timings;  // by rank; std::nullopt: no error
    bool hung = false;                           // the watchdog had to kill ranks
};

/// The maximum duration of a scene.
constexpr std::chrono::seconds kPatience(12);

/// Forks a process that runs `body` and exits. Returns its process id.
pid_t start_process(const std::function<void()>& body);

/// Runs a scenario; `group_kind` is "threads", "ring-tcp", "ring-shm" or "gloo". Blocks
/// until all ranks have exited. REQUIRES: this process has no other thread, and SIGCHLD
/// is blocked.
Outcome play(const std::string& group_kind, const Scenario& scenario);

}  // namespace mini::dist::faults
