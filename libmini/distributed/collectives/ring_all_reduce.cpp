// Ring all-reduce: every rank starts with its own buffer and ends with the sum of all
// buffers.
//
// Split the buffer into P chunks and arrange the P ranks in a ring. At every step each
// rank sends one chunk to its right neighbour and receives another from its left
// neighbour.
//
//     reduce-scatter   P-1 steps   Each rank combines the received chunk with its own
//                                  (mine = mine op theirs), and sends it in the next step;
//                                  afterwards rank r holds the finished chunk r+1.
//     all-gather       P-1 steps   Each finished chunk goes around the ring once more.
//
//              chunk sent (P = 4)
//     step      0   1   2 | 3   4   5
//     rank 0    0   3   2 | 1   0   3
//     rank 1    1   0   3 | 2   1   0
//     rank 2    2   1   0 | 3   2   1
//     rank 3    3   2   1 | 0   3   2
//
// Each rank sends about 2(P-1)/P of the buffer, never more than twice its size, and waits
// for 2(P-1) message latencies. Each chunk is finished on one rank, and the other ranks
// copy it, so the results are bitwise identical on all ranks. Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.

#include "libmini/distributed/collectives/all_reduce.hpp"

#include <cstddef>

#include "libmini/distributed/collectives/reduce.hpp"

namespace mini::dist {

void ring_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const int P = transport.world_size(), rank = transport.rank();
    const int right = (rank + 1) % P;
    const int left = (rank + P - 1) % P;

    // Returns chunk k modulo P. Below, k counts down from rank or rank + 1 in P - 1 steps,
    // so it may be negative.
    const auto chunk = [&](int k) {
        return data.part(static_cast<size_t>((k + 2 * P) % P), static_cast<size_t>(P));
    };

    prepare_reduce(data, P, op);

    // [lab11.3] Reduce-scatter: combine each received chunk into the one to send next.
    // Send chunks rank, rank-1, rank-2, ...
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes, combine);
    finish_reduce(chunk(rank + 1), P, op);
    // [lab11.3]

    // [lab11.3] All-gather: start from the chunk this rank has just finished.
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank + 1 - step).bytes, left,
                            chunk(rank - step).bytes);
    // [lab11.3]
}

}  // namespace mini::dist
