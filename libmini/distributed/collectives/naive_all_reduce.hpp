// The all-reduce that comes to mind first: everybody sends everything to rank 0, which
// adds it up and sends it back.
//
//     rank 0    receives from 1, 2, .. P-1, then sends to 1, 2, .. P-1
//     others    send, then receive
//
// Rank 0 moves 2(P-1) buffers while the others wait for it: the time grows with P. Every
// other algorithm here is an answer to that.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// As ring_all_reduce.
void naive_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
