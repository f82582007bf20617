#include "labs/11-collectives/shift.hpp"

#include <algorithm>

// [lab11 file]
namespace first {

void shift(mini::dist::Transport& transport, std::span<const std::byte> out,
           std::span<std::byte> in) {
    const int P = transport.world_size(), rank = transport.rank();
    // [lab11.1] Send and receive, in an order that cannot leave every rank sending.
    if (P == 1) {
        std::ranges::copy(out, in.begin());
        return;
    }
    const int right = (rank + 1) % P;
    const int left = (rank + P - 1) % P;
    if (rank % 2 == 0) {
        transport.send(right, out);
        transport.recv(left, in);
    } else {
        transport.recv(left, in);
        transport.send(right, out);
    }
    // [lab11.1]
}

}  // namespace first
// [lab11 file]
