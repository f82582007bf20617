// The dissemination barrier: in round k every rank signals the rank 2^k further on.
//
//     P = 5      round 0      round 1      round 2
//     rank r     -> r+1       -> r+2       -> r+4        (mod P)
//     heard of   r-1          r-1 .. r-3   all others
//
// What a rank has heard of doubles each round, so ceil(log2 P) rounds of one empty
// message a rank are enough; no rank is special. Hensgen, Finkel and Manber, "Two
// algorithms for barrier synchronization", 1988.

#pragma once

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Blocks until every rank has called it. REQUIRES: under one Transport::begin.
void dissemination_barrier(Transport& transport);

/// Blocks until every rank has called it, and so until each is connected to all others.
/// A rank that dies before that is named by all. Throws as Transport does, after it has told
/// the other ranks.
void await_all_ranks(GroupTransport& transport, Deadline deadline);

}  // namespace mini::dist
