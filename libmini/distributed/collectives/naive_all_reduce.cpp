// Naive all-reduce: every rank sends its buffer to rank 0, which reduces all buffers
// and sends the result back.
//
//     rank 0         receives from 1, 2, .. P-1, then sends to 1, 2, .. P-1
//     other ranks    send to 0, then receive from 0
//
// Rank 0 receives P-1 buffers and sends P-1 buffers while the other ranks wait: the time
// grows with P. In the other algorithms no rank sends more than about log2 P buffers.

#include "libmini/distributed/collectives/all_reduce.hpp"

#include "libmini/distributed/collectives/reduce.hpp"

namespace mini::dist {

void naive_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const int P = transport.world_size();
    prepare_reduce(data, P, op);

    // [lab11.1] Reduce all buffers on rank 0, which sends the result back.
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
    finish_reduce(data, P, op);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
    // [lab11.1]
}

}  // namespace mini::dist
