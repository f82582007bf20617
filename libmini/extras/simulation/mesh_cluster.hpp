// Simulated ranks that are connected from the start, as after a rendezvous, but without
// the queues of a process group.

#pragma once

#include <functional>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"

namespace mini::dist {

/// Runs `body` in every process, with the MeshTransport of rank r in process r. If `body`
/// throws, the rank leaves the group and reports the failure to the other ranks, as a
/// process group does. Returns how each process ended.
std::vector<ProcessEnd> run_mesh(ProcessCluster& cluster,
                                 const std::function<void(GroupTransport&)>& body);

}  // namespace mini::dist
