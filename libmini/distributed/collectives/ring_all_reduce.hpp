// Ring all-reduce: every rank starts with its own buffer and ends with the sum of all
// buffers.
//
// Split the buffer into P chunks and arrange the P ranks in a ring. At every step each
// rank sends one chunk to its right neighbour and receives another from its left
// neighbour.
//
//     reduce-scatter   P-1 steps   Each rank combines the received chunk with its own
//                                  (mine = mine op theirs), and sends it in the next step;
//                                  afterwards rank r holds the finished chunk r+1.
//     all-gather       P-1 steps   Each finished chunk goes around the ring once more.
//
//              chunk sent (P = 4)
//     step      0   1   2 | 3   4   5
//     rank 0    0   3   2 | 1   0   3
//     rank 1    1   0   3 | 2   1   0
//     rank 2    2   1   0 | 3   2   1
//     rank 3    3   2   1 | 0   3   2
//
// Each rank sends about 2(P-1)/P of the buffer, never more than twice its size, and waits
// for 2(P-1) message latencies. Each chunk is finished on one rank, and the other ranks
// copy it, so the results are bitwise identical on all ranks. Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Reduces `data` over all ranks and leaves the result in `data` on every rank; blocks
/// until done. The results are bitwise identical on all ranks. Calls prepare_reduce
/// (reduce.hpp) before the first message, and finish_reduce once for each element, where
/// all ranks' data of it is combined, before it is sent on: the caller calls neither.
/// REQUIRES: the same size, dtype and op on every rank. If `transport` is a
/// GroupTransport, its begin() was called for this collective (a process group does so).
void ring_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
