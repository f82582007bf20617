// The simulated cluster: many ranks in one thread, links with a delay and a rate, and a clock of
// its own. The algorithms of collectives/ run on it unchanged, since they need a Transport and
// nothing else.
//
//     ring_all_reduce ...      the real code, on each rank
//     SimulatedTransport       send, recv, send_recv
//     Network                  messages, ports, virtual times
//     Scheduler                ranks as fibers, events in the order of their times
//
// Virtual time passes on links, with `combine_per_byte` where numbers are combined, and where a
// body calls sleep_until(), for what the rank computes. A
// thousand ranks therefore show on a laptop what a collective costs on a cluster: messages,
// bytes, and the time by the links' rates and delays. Like SMPI (Degomme et al., "Simulating
// MPI applications: the SMPI approach", 2017), with our own collectives as the program.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/scheduler.hpp"
#include "libmini/distributed/simulation/simulated_transport.hpp"

namespace mini::dist {

struct ClusterOptions {
    int world_size = 2;
    Links links;
    uint64_t seed = 0;  // decides in which order ranks run that are ready at one time
    std::chrono::duration<double> combine_per_byte{};  // of a message that is combined

    /// Whether messages carry their bytes. Without, receives write nothing and only times and
    /// counts are right; all ranks may then use one buffer.
    bool has_payload = true;
};

/// What a run came to.
struct ClusterReport {
    VirtualTime time{};            // until the last rank had returned
    std::vector<VirtualTime> end;  // by rank: when it returned
    std::vector<Traffic> sent;     // by rank
    size_t messages_left = 0;      // that were sent and never received
};

/// Runs `body` on every rank; returns when all have returned. The transport knows its rank and
/// lives as long as the body runs. Throws what the first rank to fail has thrown; Error when the
/// ranks wait for each other forever, with what each waits for; UsageError when the world size
/// is below 1. Not a GroupTransport: it has no deadlines, and no rank dies.
ClusterReport run_cluster(const ClusterOptions& options,
                          const std::function<void(SimulatedTransport&)>& body);

}  // namespace mini::dist
