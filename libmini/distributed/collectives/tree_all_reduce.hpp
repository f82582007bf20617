// Tree all-reduce: a reduce up a binomial tree to rank 0 (tree_reduce.hpp), then a
// broadcast down the tree (tree_broadcast.hpp).
//
// 2 ceil(log2 P) rounds of the whole buffer: few messages, but many bytes, so it suits
// small buffers. Rank 0 receives ceil(log2 P) buffers, then sends ceil(log2 P) buffers.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Same contract as ring_all_reduce.
void tree_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
