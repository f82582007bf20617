// Backend "gloo": Facebook's collectives over TCP, which PyTorch uses on CPUs.
//
//     collectives       Gloo's own, on a worker thread, while this thread polls the side
//                       channel: Gloo blocks, and never reports which rank is lost
//     point to point    an envelope over the side channel, then the payload by Gloo: Gloo
//                       aborts the process if a message is larger than the receive buffer
//     reduce_scatter    missing in Gloo: an all_reduce, of which each rank keeps its part
//
// The reduction functions are ours (collectives/reduce.hpp), so values combine as in the
// other backends. Gloo's connections carry no cookie; after all are established, Gloo
// stops listening. Gloo needs SIGPIPE to be ignored, so creating the first group ignores
// it, unless the program has set a handler.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Returns "" if this build has the backend, else how to install it.
std::string why_no_gloo();

/// Connects to the other ranks and creates the group; blocks until all ranks are
/// connected to each other. Throws as make_ring_group does, and UsageError if the build
/// lacks the backend.
std::shared_ptr<QueuedGroup> make_gloo_group(const RendezvousConfig& config, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
