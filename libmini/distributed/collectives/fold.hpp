// Folding: what algorithms for 2^k ranks do with the ranks beyond.
//
//     P = 6, Q = 4     before    4 -> 0   5 -> 1     0 and 1 take in what they bring
//                      between   0 .. 3              do the work
//                      after     0 -> 4   1 -> 5     and hand out the result
//
// Costs two messages of the whole buffer where P is not a power of two.

#pragma once

#include <bit>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Runs `among_power_of_two(Q)` on ranks 0 .. Q-1, where Q is the largest power of two
/// not above P, with the other ranks' numbers folded in; leaves the result on all ranks.
template <typename Body>
void fold_to_power_of_two(Transport& transport, Elements data, ReduceOp op,
                          const Body& among_power_of_two) {
    const int P = transport.world_size(), rank = transport.rank();
    const int Q = static_cast<int>(std::bit_floor(static_cast<unsigned>(P)));
    if (rank >= Q) {
        transport.send(rank - Q, data.bytes);
        transport.recv(rank - Q, data.bytes);
        return;
    }
    const bool has_guest = rank + Q < P;
    if (has_guest) transport.recv(rank + Q, data.bytes, combine_for(data.dtype, op));
    among_power_of_two(Q);
    if (has_guest) transport.send(rank + Q, data.bytes);
}

}  // namespace mini::dist
