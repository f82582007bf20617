// Ring all-reduce: every rank starts with its own buffer and ends with the sum of them
// all.
//
// Cut the buffer into P chunks and put the P ranks in a ring. At every step each rank
// sends one chunk to its right and receives another from its left.
//
//     reduce-scatter   P-1 steps   Each hop adds one rank's share to the passing chunk;
//                                  afterwards rank r holds the finished chunk r+1.
//     all-gather       P-1 steps   The finished chunks go round once more and overwrite.
//
//              chunk sent (P = 4)
//     step      0   1   2 | 3   4   5
//     rank 0    0   3   2 | 1   0   3
//     rank 1    1   0   3 | 2   1   0
//     rank 2    2   1   0 | 3   2   1
//     rank 3    3   2   1 | 0   3   2
//
// Each rank sends 2(P-1)/P of the buffer, less than twice its size however large P is.
// The price is 2(P-1) message latencies. Each chunk is finished on one rank and copied
// from there, so all ranks end with the same bits. Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", 2009.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Leaves the reduction of all ranks' `data` in `data`; blocks until done. REQUIRES: the
/// same size, dtype and op on every rank, under one Transport::begin.
void ring_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
