// Dissemination barrier: in round k, every rank r sends an empty message to rank r + 2^k.
//
//     P = 5        round 0      round 1      round 2
//     rank r       -> r+1       -> r+2       -> r+4        (mod P)
//     heard from   r-1          r-1 .. r-3   all others
//
// The number of ranks that a rank has heard from doubles each round, so ceil(log2 P)
// rounds of one empty message per rank are enough. All ranks do the same work. Hensgen,
// Finkel and Manber, "Two algorithms for barrier synchronization", 1988.

#pragma once

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Blocks until every rank has called this function. REQUIRES: if `transport` is a
/// GroupTransport, its begin() was called for this collective.
void dissemination_barrier(Transport& transport);

/// Blocks until every rank has called this function: then all ranks are connected to each
/// other. Calls begin() with the barrier kFirstJoiningSequence and the time until
/// `deadline`, at least 1 ms, and leave() if an Error is thrown, so that the others learn
/// of it. If a rank dies before it calls this function, the errors of all other ranks
/// name the dead rank. Throws as Transport does.
void await_all_ranks(GroupTransport& transport, Deadline deadline);

}  // namespace mini::dist
