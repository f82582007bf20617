// Folding: how algorithms for a power-of-two number of ranks include the other ranks.
//
//     P = 6, Q = 4     before    4 -> 0   5 -> 1     0 and 1 combine the data of 4 and 5
//                      between   0 .. 3              run the algorithm
//                      after     0 -> 4   1 -> 5     0 and 1 send the result
//
// Costs two messages of the whole buffer if P is not a power of two.

#pragma once

#include <bit>

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Combines the data of rank Q + r into the data of rank r, for r = 0 .. P-Q-1; calls
/// `among_power_of_two(Q)` on ranks 0 .. Q-1; and sends the result to ranks Q .. P-1. Q
/// is the largest power of two that is not greater than P.
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
    const bool has_folded_rank = rank + Q < P;
    if (has_folded_rank)
        transport.recv(rank + Q, data.bytes, combine_for(data.dtype, op));
    among_power_of_two(Q);
    if (has_folded_rank) transport.send(rank + Q, data.bytes);
}

}  // namespace mini::dist
