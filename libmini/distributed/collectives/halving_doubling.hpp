// All-reduce by recursive halving and doubling: a reduce-scatter, then an all-gather,
// each in log2 P rounds.
//
//     P = 4           round 0 (bit 2)    round 1 (bit 1)
//     halving         keep a half of     keep a half of that     send the other one
//     rank 0          A B | . .          A | .
//     rank 1          A B | . .          . | B
//     rank 2          . . | C D          C | .
//     rank 3          . . | C D          . | D
//     doubling        the same backwards: what is finished goes to the partner
//
// 2(P-1)/P of the buffer a rank, as the ring, but 2 log2 P messages instead of 2(P-1): the
// better one for many ranks and middling buffers. Ranks beyond a power of two are folded
// in (fold.hpp). Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", 2005.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// As ring_all_reduce.
void halving_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
