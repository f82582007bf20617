// The all-reduce of PyTorch's tutorial "Writing Distributed Applications with PyTorch":
// the whole buffers of all ranks go around the ring, and each rank adds every buffer to
// its own.
//
//     rank 0 of 3    (x0 + x2) + x1
//     rank 1 of 3    (x1 + x0) + x2
//     rank 2 of 3    (x2 + x1) + x0
//
// Each rank sends (P-1) n bytes; ring_all_reduce sends fewer than 2n. Each rank adds in a
// different order, so with three or more ranks the last bits of their sums differ.

#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"

namespace first {

/// Sums `data` over all ranks, in place; blocks until done. The sums of two ranks may
/// differ in their last bits. REQUIRES: the same size on every rank.
inline void tutorial_ring(mini::dist::Transport& transport, std::span<float> data) {
    const int P = transport.world_size(), rank = transport.rank();
    std::vector<float> outgoing(data.begin(), data.end()), incoming(data.size());
    for (int step = 0; step < P - 1; ++step) {
        transport.send_recv((rank + 1) % P, std::as_bytes(std::span(outgoing)),
                            (rank + P - 1) % P,
                            std::as_writable_bytes(std::span(incoming)));
        for (size_t i = 0; i < data.size(); ++i) data[i] += incoming[i];
        std::swap(outgoing, incoming);
    }
}

}  // namespace first
