// Reduce up a binomial tree: the messages of tree_broadcast.hpp in reverse order. In each
// round half of the remaining ranks send their data to another rank and are done.
//
//     P = 8, root 0
//
//     round 0       1 -> 0   3 -> 2   5 -> 4   7 -> 6
//     round 1       2 -> 0   6 -> 4
//     round 2       4 -> 0
//
// ceil(log2 P) rounds; every rank except the root sends its n bytes once.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Reduces `data` over all ranks into rank `root`'s `data`; `data` on the other ranks
/// then holds partial results. Blocks until this rank's part is done. Each rank combines
/// the data of its nearest child first. For kAvg only adds: the caller must call
/// prepare_reduce before and finish_reduce after (reduce.hpp). REQUIRES: the same size,
/// dtype, op and root on every rank. If `transport` is a GroupTransport, its begin() was
/// called for this collective.
void tree_reduce(Transport& transport, Elements data, ReduceOp op, int root);

}  // namespace mini::dist
