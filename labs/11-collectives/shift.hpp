// Shift: every rank sends to its right neighbour and receives from its left neighbour, with
// calls that do one thing at a time.
//
//     P = 4     0 -> 1 -> 2 -> 3 -> 0
//
// Transport::send may block until the receiver calls recv. If every rank sends first, no rank
// is left to receive. Transport::send_recv does both at once; this file shows what it saves.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/transport/transport.hpp"

namespace first {

/// Sends `out` to rank + 1 and receives `in` from rank - 1 (both modulo the world size);
/// blocks until both are done. On one rank copies `out` to `in`. Uses each of
/// Transport::send and Transport::recv once, and not send_recv. Ends on any number of ranks
/// although both calls may block until the other side calls its half, after at most three
/// message times: not one after the other along the ring. REQUIRES: `in` and `out` have the
/// same size, on every rank, and do not overlap.
void shift(mini::dist::Transport& transport, std::span<const std::byte> out,
           std::span<std::byte> in);

}  // namespace first
