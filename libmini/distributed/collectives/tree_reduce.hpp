// Reduce up a binomial tree: a broadcast (tree_broadcast.hpp) run backwards. In each
// round half of the ranks that still have numbers hand them to another and are done.
//
//     P = 8, root 0
//
//     round 0       1 -> 0   3 -> 2   5 -> 4   7 -> 6
//     round 1       2 -> 0   6 -> 4
//     round 2       4 -> 0
//
// ceil(log2 P) rounds; every rank but the root sends its n bytes once.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Leaves the reduction of all ranks' `data` in rank `root`'s, and partial ones in the
/// others'; blocks until this rank's part is done. kAvg adds only: the caller prepares and
/// finishes (reduce.hpp). REQUIRES: the same size, dtype, op and root on every rank, under
/// one Transport::begin.
void tree_reduce(Transport& transport, Elements data, ReduceOp op, int root);

}  // namespace mini::dist
