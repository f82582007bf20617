// One all-reduce of float32 on the simulated cluster, beside the formula for its time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libmini/distributed/simulation/cluster.hpp"
#include "libmini/distributed/transport/collective.hpp"

namespace mini::tools {

struct SimulatedAllReduce {
    std::string algorithm;  // that ran
    size_t bytes = 0;       // of one rank's buffer
    double seconds = 0;     // of virtual time, until the last rank is done

    /// The seconds by all_reduce_seconds(); none where links differ, where combining takes time,
    /// and for kAuto and kHierarchical.
    std::optional<double> formula;

    int64_t messages = 0, bytes_sent = 0;  // of all ranks
    double wall_seconds = 0;               // of the simulation
};

/// Runs the algorithm on a buffer of `bytes`, a multiple of 4, on every rank. Messages are sizes
/// alone. Blocks for the wall time of the simulation.
SimulatedAllReduce simulate_all_reduce(dist::Algorithm algorithm, size_t bytes,
                                       dist::ClusterOptions cluster);

}  // namespace mini::tools
