// All-gather on a ring: every rank starts with its own block and ends with all blocks.
//
// At step 0 a rank sends its own block to its right neighbour; at each later step it
// sends the block that it has just received from its left neighbour.
//
//              block sent (P = 4)
//     step      0   1   2
//     rank 0    0   3   2
//     rank 1    1   0   3
//     rank 2    2   1   0
//     rank 3    3   2   1
//
// P-1 steps; each rank sends P-1 blocks, the minimum: P-1 blocks must reach each rank.

#pragma once

#include <cstddef>
#include <span>

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Copies rank r's blocks[r] to blocks[r] on every rank; blocks until done. REQUIRES:
/// world_size blocks of one size, the same on every rank; blocks[rank] holds this rank's
/// data; GroupTransport::begin was called for this collective.
void ring_all_gather(Transport& transport, std::span<const std::span<std::byte>> blocks);

}  // namespace mini::dist
