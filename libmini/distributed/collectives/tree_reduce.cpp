#include "libmini/distributed/collectives/tree_reduce.hpp"

#include "libmini/distributed/collectives/reduce.hpp"

namespace mini::dist {

void tree_reduce(Transport& transport, Elements data, ReduceOp op, int root) {
    const int P = transport.world_size();

    // Count the ranks from the root on: place 0 is the root.
    const int place = (transport.rank() - root + P) % P;
    const auto rank_at = [&](int other) { return (other + root) % P; };

    // Take in my children's numbers, the nearest child first, and pass the sum on.
    const Combine combine = combine_for(data.dtype, op);
    int bit = 1;
    for (; bit < P && (place & bit) == 0; bit *= 2)
        if (place + bit < P) transport.recv(rank_at(place + bit), data.bytes, combine);
    if (place != 0) transport.send(rank_at(place - bit), data.bytes);
}

}  // namespace mini::dist
