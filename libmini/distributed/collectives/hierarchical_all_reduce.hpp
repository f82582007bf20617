// Hierarchical all-reduce: a reduce inside each host over fast memory, then an
// all-reduce across hosts, where the network is the bottleneck, with one rank per host.
//
//     host A: ranks 0 1 2      reduce to 0  \                       broadcast from 0
//                                            ring all-reduce 0, 3
//     host B: ranks 3 4 5      reduce to 3  /                       broadcast from 3
//
// With H hosts, each network card sends 2(H-1)/H of the buffer, however many ranks a
// host has. A ring over all ranks sends up to n times as much over the same card with n
// ranks per host, if ranks of one host are not neighbours in the ring.

#pragma once

#include <vector>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Same contract as ring_all_reduce. `hosts`: a host number for each rank, equal for
/// ranks on the same host.
void hierarchical_all_reduce(Transport& transport, Elements data, ReduceOp op,
                             const std::vector<int>& hosts);

}  // namespace mini::dist
