#include "libmini/distributed/collectives/hierarchical_all_reduce.hpp"

#include <map>

#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
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
