#include "libmini/distributed/collectives/ring_all_gather.hpp"

namespace mini::dist {

void ring_all_gather(Transport& transport, std::span<const std::span<std::byte>> blocks) {
    const int P = transport.world_size(), rank = transport.rank();
    const int right = (rank + 1) % P;
    const int left = (rank + P - 1) % P;

    // Returns block k modulo P.
    const auto block = [&](int k) { return blocks[static_cast<size_t>((k + P) % P)]; };

    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, block(rank - step), left, block(rank - step - 1));
}

}  // namespace mini::dist
