// Hierarchical all-reduce: a reduce inside each host through shared memory, then an
// all-reduce between one rank of each host over the network, which is the bottleneck,
// then a broadcast inside each host.
//
//     host A: ranks 0 1 2      reduce to 0  \                       broadcast from 0
//                                            ring all-reduce 0, 3
//     host B: ranks 3 4 5      reduce to 3  /                       broadcast from 3
//
// With H hosts, each network card sends 2(H-1)/H of the buffer, for any number of ranks
// per host. With n ranks per host, a ring over all ranks sends up to n times as much over
// each network card, if ranks of one host are not neighbours in the ring.

#include "libmini/distributed/collectives/all_reduce.hpp"

#include <map>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/collectives/tree_broadcast.hpp"
#include "libmini/distributed/collectives/tree_reduce.hpp"
#include "libmini/distributed/transport/subset_transport.hpp"

namespace mini::dist {

void hierarchical_all_reduce(Transport& transport, Elements data, ReduceOp op,
                             const std::vector<int>& hosts) {
    // List the ranks of each host; the first rank of a host is its leader.
    std::map<int, std::vector<int>> ranks_of;
    for (size_t rank = 0; rank < hosts.size(); ++rank)
        ranks_of[hosts[rank]].push_back(static_cast<int>(rank));
    std::vector<int> leaders;
    for (const auto& [host, ranks] : ranks_of) leaders.push_back(ranks.front());

    // Reduce inside each host, to its leader.
    prepare_reduce(data, transport.world_size(), op);
    const int my_host = hosts[static_cast<size_t>(transport.rank())];
    SubsetTransport same_host(transport, ranks_of[my_host]);
    tree_reduce(same_host, data, op, 0);

    // All-reduce between the leaders. For kAvg, add first; finish_reduce divides the sum.
    if (same_host.rank() == 0) {
        SubsetTransport across(transport, leaders);
        ring_all_reduce(across, data, op == ReduceOp::kAvg ? ReduceOp::kSum : op);
        finish_reduce(data, transport.world_size(), op);
    }
    tree_broadcast(same_host, data.bytes, 0);
}

}  // namespace mini::dist
