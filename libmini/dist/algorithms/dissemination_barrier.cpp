#include "libmini/dist/algorithms/dissemination_barrier.hpp"

namespace mini::dist {

void dissemination_barrier(Transport& transport) {
    const int P = transport.world_size(), rank = transport.rank();
    for (int distance = 1; distance < P; distance *= 2)
        transport.send_recv((rank + distance) % P, {}, (rank - distance + P) % P, {});
}

}  // namespace mini::dist
