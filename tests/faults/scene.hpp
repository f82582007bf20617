// Plays a scenario: ranks as processes, or as threads of one, with a watchdog beside
// them.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/faults/scenario.hpp"

namespace mini::dist::faults {

struct Outcome {
    std::vector<std::string> texts;   // by rank; what it threw, "" for nothing
    std::vector<double> error_times;  // milliseconds from the fault to each error
    bool hung = false;                // the watchdog had to end it
};

/// `group_kind`: "threads", "ring-tcp", "ring-shm". Blocks until all ranks are gone.
/// REQUIRES: no thread is running.
Outcome play(const std::string& group_kind, const Scenario& scenario);

}  // namespace mini::dist::faults
