// Tree all-reduce: up a binomial tree to rank 0 (tree_reduce.hpp), and down again
// (tree_broadcast.hpp).
//
// 2 ceil(log2 P) rounds of the whole buffer: few messages, many bytes. Good for small
// buffers; the middle of the tree moves up to 2 ceil(log2 P) buffers.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// As ring_all_reduce.
void tree_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
