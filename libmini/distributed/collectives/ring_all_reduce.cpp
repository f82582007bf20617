#include "libmini/distributed/collectives/ring_all_reduce.hpp"

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
