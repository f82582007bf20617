// All-gather on a ring: every rank starts with its own block and ends with everyone's.
//
// At each step a rank passes on to its right the block that came in last from its left.
//
//              block sent (P = 4)
//     step      0   1   2
//     rank 0    0   3   2
//     rank 1    1   0   3
//     rank 2    2   1   0
//     rank 3    3   2   1
//
// P-1 steps; each rank sends P-1 blocks, which is as few as there can be.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Leaves rank r's blocks[r] in blocks[r] on every rank; blocks until done. REQUIRES:
/// world_size blocks of one size, the same on every rank, under one Transport::begin;
/// blocks[rank] holds this rank's data.
void ring_all_gather(Transport& transport, std::span<const std::span<std::byte>> blocks);

}  // namespace mini::dist
