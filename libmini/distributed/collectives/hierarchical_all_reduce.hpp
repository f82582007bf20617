// Hierarchical all-reduce: first inside each host, where memory is near, then across
// hosts, where the network is the bottleneck, with one rank of each host.
//
//     host A: ranks 0 1 2      reduce to 0  \                       broadcast from 0
//                                            ring all-reduce 0, 3
//     host B: ranks 3 4 5      reduce to 3  /                       broadcast from 3
//
// Between H hosts 2(H-1)/H of the buffer pass each network card, however many ranks a
// host has; a ring over all ranks sends about twice as much over the same card when ranks
// are not next to one another.

#pragma once

#include <vector>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// As ring_all_reduce. `hosts`: for each rank a number, the same for ranks on one host.
void hierarchical_all_reduce(Transport& transport, Elements data, ReduceOp op,
                             const std::vector<int>& hosts);

}  // namespace mini::dist
