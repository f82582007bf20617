// All-reduce by recursive doubling: in round k every rank exchanges all it has with the
// rank whose number differs in bit k, and both add.
//
//     P = 4     round 0     0 <-> 1   2 <-> 3      sums of two
//               round 1     0 <-> 2   1 <-> 3      sums of four
//
// log2 P rounds of the whole buffer: the fewest rounds there can be, so the best for
// small buffers. Both partners combine the lower rank's numbers with the higher one's, in
// this order, so that all ranks end with the same bits. Ranks beyond a power of two are
// folded in (fold.hpp).

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// As ring_all_reduce.
void recursive_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
