// The first collective of a group: all ranks wait until they are connected to each other.

#pragma once

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Blocks until every rank has called this function: then all ranks are connected to each
/// other. Calls begin() with the barrier kFirstJoiningSequence and the time until
/// `deadline`, at least 1 ms, and leave() if an Error is thrown, so that the others learn
/// of it. If a rank dies before it calls this function, the errors of all other ranks
/// name the dead rank. Throws as Transport does.
void await_all_ranks(GroupTransport& transport, Deadline deadline);

}  // namespace mini::dist
