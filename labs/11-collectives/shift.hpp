// Shift: every rank sends to its right neighbour and receives from its left neighbour,
// with calls that either send or receive.
//
//     P = 4     0 -> 1 -> 2 -> 3 -> 0
//
// Transport::send may block until the receiver calls recv. If every rank sends first, no
// rank is left to receive. Transport::send_recv, which does both at once, avoids this.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/transport/transport.hpp"

namespace first {

/// Sends `out` to rank + 1 and receives `in` from rank - 1 (both modulo the world size);
/// blocks until both are done. On one rank copies `out` to `in`. Calls Transport::send
/// and Transport::recv once each, and not send_recv. Each of the two calls may block
/// until the other rank makes the matching call; shift must still end on any number of
/// ranks, within the time of three messages. REQUIRES: `in` and `out` have the same size,
/// the same on every rank, and do not overlap.
void shift(mini::dist::Transport& transport, std::span<const std::byte> out,
           std::span<std::byte> in);

}  // namespace first
