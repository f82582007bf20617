// Hierarchical all-reduce: a reduce inside each host, then an all-reduce between one rank
// of each host over the network, which is the bottleneck, then a broadcast inside each
// host.
//
//     host A: ranks 0 1 2      reduce to 0  \                       broadcast from 0
//                                            ring all-reduce 0, 3
//     host B: ranks 3 4 5      reduce to 3  /                       broadcast from 3
//
// With H hosts, each network card sends 2(H-1)/H of the buffer, for any number of ranks
// per host. A ring over all P ranks sends up to (P-1)/(H-1) times as much over each network
// card, if ranks of one host are not neighbours in the ring: here 5 times as much.

#pragma once

#include <vector>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Contract: as the all-reduces of collectives.hpp. `hosts`: the host number of each rank.
void hierarchical_all_reduce(Transport& transport, Elements data, ReduceOp op,
                             const std::vector<int>& hosts);

}  // namespace mini::dist
