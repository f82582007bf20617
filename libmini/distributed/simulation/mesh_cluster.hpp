// Simulated ranks that are connected from the start: what a job is after its rendezvous, and
// without the queues of a process group.

#pragma once

#include <functional>
#include <vector>

#include "libmini/distributed/simulation/process_cluster.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Runs `body` on a MeshTransport of every process: rank r is process r. A rank whose body
/// throws leaves the group with its failure, as a process group does. Returns how each ended.
std::vector<ProcessEnd> run_mesh(ProcessCluster& cluster,
                                 const std::function<void(GroupTransport&)>& body);

}  // namespace mini::dist
