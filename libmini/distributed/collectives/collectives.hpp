// The collectives: algorithms in which all ranks take part, on the messages of a Transport.
//
// Broadcast and reduce use a binomial tree. Ranks are numbered relative to the root. In each
// round of a broadcast every rank that has the data sends it to a rank that does not have
// it; a reduce sends the same messages backwards. ceil(log2 P) rounds, P-1 messages.
//
//     P = 8, root 0         0
//                     ┌─────┼───┐
//     round 0         4     │   │      0 -> 4
//                   ┌─┤     │   │
//     round 1       6 │     2   │      0 -> 2   4 -> 6
//                   │ │     │   │
//     round 2       7 5     3   1      0 -> 1   2 -> 3   4 -> 5   6 -> 7
//
// Dissemination barrier: in round k each rank signals the rank 2^k above. After round k it
// has heard, directly or through others, from 2^(k+1) - 1 ranks. Hensgen, Finkel and Manber,
// "Two algorithms for barrier synchronization", 1988.
//
// Ring all-reduce: the buffer is split into P chunks. At every step each rank sends a chunk
// to its right neighbour and receives another from its left neighbour.
//
//     reduce-scatter   P-1 steps   a rank combines the received chunk with its own data
//                                  (mine = mine op theirs), and sends it in the next step;
//                                  afterwards rank r has the finished chunk r+1
//     all-gather       P-1 steps   each finished chunk goes around the ring once more
//
//              chunk sent (P = 4)
//     step      0   1   2 | 3   4   5
//     rank 0    0   3   2 | 1   0   3
//     rank 1    1   0   3 | 2   1   0
//     rank 2    2   1   0 | 3   2   1
//     rank 3    3   2   1 | 0   3   2
//
// Each rank sends 2(P-1)/P of the buffer, and waits for 2(P-1) message latencies. Patarasuk
// and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
//
// Recursive doubling: in rounds 0, 1, 2, ... a rank exchanges its whole buffer with rank
// XOR 1, rank XOR 2, rank XOR 4, ..., and both combine the two buffers. If a rank sends and
// receives one message a round, no algorithm needs fewer rounds than log2 P.
//
// Recursive halving and doubling: a reduce-scatter, then an all-gather, each in log2 P
// rounds. Each rank sends 2(P-1)/P of the buffer in 2 log2 P messages. Thakur, Rabenseifner
// and Gropp, "Optimization of collective communication operations in MPICH", 2005.
//
//     P = 4           round 0 (bit 2)    round 1 (bit 1)
//     halving         a rank keeps one half of its data, and sends the other half
//     rank 0          A B | . .          A | .
//     rank 1          A B | . .          . | B
//     rank 2          . . | C D          C | .
//     rank 3          . . | C D          . | D
//     doubling        the same rounds backwards: a rank sends the finished data
//
// If P is not a power of two, these two fold the other ranks in (fold.hpp).

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

// Each function blocks until this rank's part is done. REQUIRES: the same size, dtype, op
// and root on every rank. If `transport` is a GroupTransport, its begin() was called for
// this collective (a process group does so).

/// Copies rank `root`'s `data` to `data` on every rank.
void tree_broadcast(Transport& transport, std::span<std::byte> data, int root);

/// Reduces `data` over all ranks into rank `root`'s `data`; `data` on the other ranks then
/// holds partial results. Each rank combines the data of its nearest child first (in the
/// picture rank 0 that of 1, then 2, then 4). Calls neither prepare_reduce nor finish_reduce
/// (reduce.hpp), so kAvg only adds: the caller calls them before and after.
void tree_reduce(Transport& transport, Elements data, ReduceOp op, int root);

/// Blocks until every rank has called this function. Sends empty messages.
void dissemination_barrier(Transport& transport);

// Each all-reduce reduces `data` over all ranks and leaves the result in `data` on every
// rank, with the same bits on all ranks. It calls prepare_reduce before the first message,
// and finish_reduce once for each element, after all ranks' data of it is combined, before
// or after it is sent on; both also with one rank. The caller calls neither.

/// All buffers go to rank 0, which combines them in the order of the ranks and sends the
/// result back.
void naive_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// A tree_reduce to rank 0, then a tree_broadcast: few messages, for small buffers.
void tree_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// The fewest bytes: for large buffers. A step sends and receives in one send_recv.
void ring_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// The fewest rounds: for small buffers. Both partners compute (lower rank's data) op
/// (higher rank's data), in this order.
void recursive_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// The ring's bytes, if P is a power of two, in fewer messages: for many ranks. The first
/// partner is Q/2 away, the last 1; Q is the largest power of two up to P. Which half of an
/// odd number of elements is the longer one is free, if both partners agree.
void halving_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
