// Backend "gloo": Facebook's collectives over TCP, as PyTorch uses them on CPUs.
//
//     collectives       gloo's own, on a thread of their own, while this one listens to
//                       the side channel: gloo blocks, and never says which rank is gone
//     point to point    an envelope over the side channel, then the payload by gloo:
//                       gloo ends the process when a message is longer than its place
//     reduce_scatter    gloo has none: an all_reduce of which each rank keeps its part
//
// The reductions are ours (algorithms/reduce.hpp), so numbers combine as in the other
// backends. Gloo's connections carry no cookie; when all are made, it listens no more. It
// needs SIGPIPE ignored, so making the first group does that, unless there is a handler.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// "" when this build has the backend; else how to get it.
std::string why_no_gloo();

/// Meets the other ranks, connects to each, and makes the group; blocks until all are
/// connected to all. Throws as make_ring_group does, UsageError when the build lacks it.
std::shared_ptr<QueuedGroup> make_gloo_group(const RendezvousConfig& config, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
