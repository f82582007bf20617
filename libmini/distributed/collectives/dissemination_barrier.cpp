#include "libmini/distributed/collectives/dissemination_barrier.hpp"

#include <algorithm>
#include <chrono>

namespace mini::dist {

void dissemination_barrier(Transport& transport) {
    const int P = transport.world_size(), rank = transport.rank();
    // [lab11.2] In round k, signal the rank 2^k above and wait for the rank 2^k below.
    for (int distance = 1; distance < P; distance *= 2)
        transport.send_recv((rank + distance) % P, {}, (rank - distance + P) % P, {});
    // [lab11.2]
}

void await_all_ranks(GroupTransport& transport, Deadline deadline) {
    constexpr Collective kConnected{.operation = Operation::kBarrier,
                                    .sequence = kFirstJoiningSequence};
    try {
        transport.begin(kConnected, std::chrono::milliseconds(
                                        std::max(1, milliseconds_left(deadline))));
        dissemination_barrier(transport);
    } catch (const Error&) {
        transport.leave(current_failure());
        throw;
    }
}

}  // namespace mini::dist
