// The full mesh: one TCP connection between each two ranks.
//
// Every rank listens on a port of its own and writes its address into the store. Rank r
// connects to all lower ranks and accepts all higher ones, so each pair meets exactly
// once. Both say Hello with the run's cookie and their rank; a stranger is dropped. When
// the mesh is complete nobody listens any more.

#pragma once

#include <vector>

#include "libmini/dist/message_stream.hpp"
#include "libmini/dist/rendezvous.hpp"

namespace mini::dist {

/// The connections to all ranks, by rank; this rank's own entry stays closed. Blocks
/// until all are there; throws Timeout naming the ranks that are not.
std::vector<MessageStream> connect_mesh(const Meeting& meeting, TcpStore& store,
                                        Deadline deadline);

}  // namespace mini::dist
