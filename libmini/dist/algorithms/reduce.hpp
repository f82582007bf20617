// The arithmetic of all_reduce and its kin: one rank's numbers combined with another's,
// element by element.
//
// float16 and bfloat16 are combined in float32 and rounded back at every step, as
// PyTorch's CPU backends do. uint8 wraps modulo 256.

#pragma once

#include "libmini/dist/combine.hpp"
#include "libmini/dist/elements.hpp"
#include "libmini/dist/reduce_op.hpp"

namespace mini::dist {

/// mine = mine op theirs; kAvg adds, see finish_reduce.
Combine combine_for(DType dtype, ReduceOp op);

/// What remains to be done once all ranks are in: kAvg divides by the world size.
void finish_reduce(Elements data, int world_size, ReduceOp op);

}  // namespace mini::dist
