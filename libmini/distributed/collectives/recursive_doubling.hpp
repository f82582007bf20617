// All-reduce by recursive doubling: in rounds 0, 1, 2, ... every rank exchanges its whole
// buffer with rank XOR 1, rank XOR 2, rank XOR 4, ..., and both combine the two buffers.
//
//     P = 4     round 0     0 <-> 1   2 <-> 3      sums of two buffers
//               round 1     0 <-> 2   1 <-> 3      sums of four buffers
//
// log2 P rounds of the whole buffer. No algorithm needs fewer rounds, so recursive
// doubling is the fastest for small buffers. Both partners compute (lower rank's data) op
// (higher rank's data), in this order, so the results are bitwise identical on all ranks.
// If P is not a power of two, the other ranks are folded in (fold.hpp).

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Same contract as ring_all_reduce.
void recursive_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
