// Ring reduce-scatter: every rank starts with one block for each rank, and ends with the
// sum of all ranks' blocks for itself: the first half of ring_all_reduce.
//
//              block sent (P = 4)
//     step      0   1   2
//     rank 0    3   2   1       and keeps the finished block 0
//     rank 1    0   3   2
//     rank 2    1   0   3
//     rank 3    2   1   0
//
// P-1 steps of one block a rank.

#pragma once

#include <span>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Leaves in `output` on rank r the reduction of all ranks' inputs[r]; blocks until done.
/// REQUIRES: world_size inputs of the output's size and dtype, the same on every rank,
/// under one Transport::begin; no overlap with `output`. The inputs stay as they are.
void ring_reduce_scatter(Transport& transport, Elements output,
                         std::span<const Elements> inputs, ReduceOp op);

}  // namespace mini::dist
