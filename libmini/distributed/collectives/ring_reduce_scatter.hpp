// Ring reduce-scatter: every rank starts with P blocks, one for each rank, and rank r
// ends with the sum of block r over all ranks. (Half a ring_all_reduce ends with chunk r+1.)
//
//              block sent (P = 4)
//     step      0   1   2
//     rank 0    3   2   1       then block 0 is finished on rank 0
//     rank 1    0   3   2
//     rank 2    1   0   3
//     rank 3    2   1   0
//
// P-1 steps; each rank sends one block per step.

#pragma once

#include <span>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Reduces inputs[r] over all ranks into `output` on rank r; blocks until done. `output`
/// may be inputs[r]; the other inputs do not change. REQUIRES: world_size inputs of the
/// output's size and dtype; the same size, dtype and op on every rank; `output` does not
/// overlap with other inputs; GroupTransport::begin was called for this collective.
void ring_reduce_scatter(Transport& transport, Elements output,
                         std::span<const Elements> inputs, ReduceOp op);

}  // namespace mini::dist
