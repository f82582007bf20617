#include "libmini/distributed/collectives/tree_reduce.hpp"

#include "libmini/distributed/collectives/reduce.hpp"

namespace mini::dist {

void tree_reduce(Transport& transport, Elements data, ReduceOp op, int root) {
    const int P = transport.world_size();

    // Number the ranks relative to the root, which has relative rank 0.
    const int relative_rank = (transport.rank() - root + P) % P;
    const auto rank_at = [&](int relative) { return (relative + root) % P; };

    // [lab11.2] Combine the children's data, nearest first, and send it to the parent.
    const Combine combine = combine_for(data.dtype, op);
    int bit = 1;
    for (; bit < P && (relative_rank & bit) == 0; bit *= 2)
        if (relative_rank + bit < P)
            transport.recv(rank_at(relative_rank + bit), data.bytes, combine);
    if (relative_rank != 0) transport.send(rank_at(relative_rank - bit), data.bytes);
    // [lab11.2]
}

}  // namespace mini::dist
