#include "libmini/distributed/collectives/tree_broadcast.hpp"

namespace mini::dist {

void tree_broadcast(Transport& transport, std::span<std::byte> data, int root) {
    const int P = transport.world_size();

    // Count the ranks from the root on: place 0 is the root.
    const int place = (transport.rank() - root + P) % P;
    const auto rank_at = [&](int other) { return (other + root) % P; };

    // The lowest bit that is set in my place leads to my parent: 6 = 110 hangs under 4 =
    // 100.
    int bit = 1;
    while (bit < P && (place & bit) == 0) bit *= 2;
    if (place != 0) transport.recv(rank_at(place - bit), data);

    // All lower bits lead to my children; the farthest, which has most to pass on, comes
    // first.
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < P) transport.send(rank_at(place + bit), data);
}

}  // namespace mini::dist
