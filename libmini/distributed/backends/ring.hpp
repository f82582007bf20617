// Backend "ring": ranks are processes, connected by shared memory within a host and by
// TCP between hosts. It has the name of its all-reduce for large buffers without extras/fast,
// ring_all_reduce; choose_algorithm() (transport_backend.hpp) names the others.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Connects to the other ranks and creates the group; blocks until all ranks are
/// connected to each other. Closes the store before returning. `link`: the network to
/// emulate (links.hpp), the same on all ranks; "" for none. Throws as join_rendezvous and
/// connect_mesh do, and UsageError for an invalid `link`.
std::shared_ptr<QueuedGroup> make_ring_group(const RendezvousConfig& config,
                                             Medium medium,
                                             std::chrono::milliseconds timeout,
                                             const std::string& link = "");

/// Returns the function that creates subgroups of a group of backend `backend`, all ranks
/// of which are on this host.
Splitter splitter_on_this_host(const std::string& backend);

}  // namespace mini::dist
