// Backend "threads": ranks are threads of one process, connected by rings in the memory
// of the process (ring_channel.hpp). The ranks of subgroups are connected as those of
// backend "ring".

#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {

/// Returns one transport for each rank, by rank, each connected to all others. Throws
/// UsageError if `world_size` is below 1.
std::vector<std::unique_ptr<GroupTransport>> make_threads_transports(int world_size);

/// Creates one group and returns the ProcessGroup of each rank, by rank. Throws as
/// make_threads_transports does.
std::vector<std::shared_ptr<QueuedGroup>> make_threads_groups(
    int world_size, std::chrono::milliseconds timeout);

}  // namespace mini::dist
