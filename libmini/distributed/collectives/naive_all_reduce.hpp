// Naive all-reduce: every rank sends its buffer to rank 0, which reduces all buffers
// and sends the result back.
//
//     rank 0         receives from 1, 2, .. P-1, then sends to 1, 2, .. P-1
//     other ranks    send to 0, then receive from 0
//
// Rank 0 receives P-1 buffers and sends P-1 buffers while the other ranks wait: the time
// grows with P. In the other algorithms no rank sends more than about log2 P buffers.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Same contract as ring_all_reduce.
void naive_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
