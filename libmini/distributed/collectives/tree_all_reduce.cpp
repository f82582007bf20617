// Tree all-reduce: a reduce up a binomial tree to rank 0 (tree_reduce.hpp), then a
// broadcast down the tree (tree_broadcast.hpp).
//
// 2 ceil(log2 P) rounds of the whole buffer: few messages, but many bytes, so it suits
// small buffers. Rank 0 receives ceil(log2 P) buffers, then sends ceil(log2 P) buffers.

#include "libmini/distributed/collectives/all_reduce.hpp"

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/collectives/tree_broadcast.hpp"
#include "libmini/distributed/collectives/tree_reduce.hpp"

namespace mini::dist {

void tree_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    prepare_reduce(data, transport.world_size(), op);
    tree_reduce(transport, data, op, 0);
    if (transport.rank() == 0) finish_reduce(data, transport.world_size(), op);
    tree_broadcast(transport, data.bytes, 0);
}

}  // namespace mini::dist
