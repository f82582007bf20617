// Backend "gloo": Facebook's collectives over TCP, which PyTorch uses on CPUs.
//
//     collectives       Gloo's functions, on a worker thread, while the communication
//                       thread polls the side channel: Gloo's functions block, and never
//                       report which rank is lost
//     point to point    an envelope with the size over the side channel, then the payload
//                       through Gloo, which aborts the process if a message is larger
//                       than the receive buffer
//     reduce_scatter    missing in Gloo: an all_reduce; each rank keeps its block
//
// The reduction functions are libmini's (collectives/reduce.hpp), as in backends "ring"
// and "mpi". Gloo checks no cookie, but stops listening when all ranks are connected.
// Gloo writes without MSG_NOSIGNAL, so make_gloo_group ignores SIGPIPE, unless the
// program handles it.

#pragma once

#include <chrono>
#include <memory>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Registers the backend (backends/registry.hpp).
void use_gloo();

/// Connects to the other ranks and creates the group; blocks until all ranks are
/// connected to each other. `verify`: see VerifyingBackend. Throws as make_ring_group
/// does.
std::shared_ptr<QueuedGroup> make_gloo_group(const RendezvousConfig& config, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
