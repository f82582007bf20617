// Broadcast down a binomial tree: in each round every rank that has the data sends it to
// a rank that does not have the data, so the number of ranks with the data doubles.
//
//     P = 8, root 0         0
//                     ┌─────┼───┐
//     round 0         4     │   │      0 -> 4
//                   ┌─┤     │   │
//     round 1       6 │     2   │      0 -> 2   4 -> 6
//                   │ │     │   │
//     round 2       7 5     3   1      0 -> 1   2 -> 3   4 -> 5   6 -> 7
//
// ceil(log2 P) rounds and P-1 messages of n bytes; each rank sends at most ceil(log2 P)
// messages.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Copies rank `root`'s `data` to `data` on every rank; blocks until this rank's part
/// is done. REQUIRES: the same size and root on every rank. If `transport` is a
/// GroupTransport, its begin() was called for this collective.
void tree_broadcast(Transport& transport, std::span<std::byte> data, int root);

}  // namespace mini::dist
