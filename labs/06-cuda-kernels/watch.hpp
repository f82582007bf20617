// What a call does on the simulated device, for the checks of lab 06: the simulator's
// findings and counts.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/access_log.hpp"

namespace mini::labs {

struct Seen {
    std::string mistakes;  // each with its lines, block and threads; "" if none
    std::vector<sim::LaunchCounters> launches;  // empty if there are mistakes

    /// Returns the first launch. REQUIRES: there is one.
    const sim::LaunchCounters& first() const { return launches.at(0); }
};

/// Runs `call` twice, once to look for mistakes and once to count, and waits for its
/// kernels. Throws what `call` throws; Error if a launch is refused or a kernel fails,
/// unless a mistake explains it.
Seen watch(const std::function<void()>& call);

}  // namespace mini::labs
