// One all-reduce of float32 on the simulated cluster, and its time according to the
// formula.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libmini/distributed/transport/collective.hpp"
#include "libmini/extras/simulation/cluster.hpp"

namespace mini::tools {

struct SimulatedAllReduce {
    std::string algorithm;  // the algorithm that ran
    size_t bytes = 0;       // of one rank's buffer
    double seconds = 0;     // virtual time until the last rank is done

    /// The time according to all_reduce_seconds(), in seconds; std::nullopt if links
    /// differ, if combining takes time, and for kAuto and kHierarchical.
    std::optional<double> formula;

    int64_t messages = 0, bytes_sent = 0;  // of all ranks together
    double wall_seconds = 0;               // real time of the simulation
};

/// Simulates one all-reduce of `bytes` bytes per rank, a multiple of 4. The messages have
/// sizes but no payload. Blocks for the real time of the simulation.
SimulatedAllReduce simulate_all_reduce(dist::Algorithm algorithm, size_t bytes,
                                       dist::ClusterOptions cluster);

}  // namespace mini::tools
