// All-reduce by recursive halving and doubling: reduce-scatter, then all-gather, each in
// log2 P rounds.
//
//     P = 4           round 0 (bit 2)    round 1 (bit 1)
//     halving         keep one half of the data, send the other half to the partner
//     rank 0          A B | . .          A | .
//     rank 1          A B | . .          . | B
//     rank 2          . . | C D          C | .
//     rank 3          . . | C D          . | D
//     doubling        the same rounds backwards: send the finished data to the partner
//
// Each rank sends 2(P-1)/P of the buffer, as in the ring, but in 2 log2 P messages
// instead of 2(P-1): faster for many ranks and medium-sized buffers. If P is not a power
// of two, the other ranks are folded in (fold.hpp). Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", 2005.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Same contract as ring_all_reduce.
void halving_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

}  // namespace mini::dist
