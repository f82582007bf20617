// The arithmetic of all_reduce and its kin: one rank's numbers combined with another's,
// element by element.
//
// float16 and bfloat16 are combined in float32 and rounded back at every step, as
// PyTorch's CPU backends do. uint8 wraps modulo 256.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/combine.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"

namespace mini::dist {

/// What each rank does to its own numbers first: kAvg scales 16-bit floats down by a power
/// of two that is not below the world size, so that their sum cannot leave their range.
/// That is exact, except for digits that fall below the smallest subnormal. All other
/// reductions leave the numbers alone.
void prepare_reduce(Elements data, int world_size, ReduceOp op);

/// mine = mine op theirs; kAvg adds, see finish_reduce.
Combine combine_for(DType dtype, ReduceOp op);

/// What remains to be done once all ranks are in: kAvg divides by the world size, less
/// what prepare_reduce has divided by.
void finish_reduce(Elements data, int world_size, ReduceOp op);

}  // namespace mini::dist
