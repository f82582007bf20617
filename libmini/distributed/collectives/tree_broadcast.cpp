#include "libmini/distributed/collectives/tree_broadcast.hpp"

namespace mini::dist {

void tree_broadcast(Transport& transport, std::span<std::byte> data, int root) {
    const int P = transport.world_size();

    // Number the ranks relative to the root, which has relative rank 0.
    const int relative_rank = (transport.rank() - root + P) % P;
    const auto rank_at = [&](int relative) { return (relative + root) % P; };

    // [lab11.2] Receive from the parent, then send to the children, the farthest first.
    // Clearing the lowest set bit of a relative rank gives its parent: the parent of 6
    // = 110 is 4 = 100.
    int bit = 1;
    while (bit < P && (relative_rank & bit) == 0) bit *= 2;
    if (relative_rank != 0) transport.recv(rank_at(relative_rank - bit), data);

    // Setting one bit below that bit gives a child: the only child of 6 = 110 is 7 = 111.
    // Send to the farthest child first: its subtree is the largest.
    for (bit /= 2; bit > 0; bit /= 2)
        if (relative_rank + bit < P) transport.send(rank_at(relative_rank + bit), data);
    // [lab11.2]
}

}  // namespace mini::dist
