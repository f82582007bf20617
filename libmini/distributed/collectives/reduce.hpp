// The arithmetic of all_reduce, reduce and reduce_scatter: functions that combine the
// data of two ranks, element by element.
//
// float16 and bfloat16 are combined in float32 and rounded back at every step, as
// PyTorch's CPU backends do. uint8 wraps modulo 256, int64 modulo 2^64. If an element of
// either rank is NaN, kMin and kMax give NaN, as torch.minimum and torch.maximum do.

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/combine.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"

namespace mini::dist {

/// Scales this rank's data before a reduction. For kAvg, divides 16-bit floats by the
/// smallest power of two that is not less than the world size, so that the sum cannot
/// overflow. The division is exact, except for digits below the smallest subnormal.
/// Other data is unchanged.
void prepare_reduce(Elements data, int world_size, ReduceOp op);

/// Returns the function "mine = mine op theirs". For kAvg it adds; finish_reduce divides.
Combine combine_for(DType dtype, ReduceOp op);

/// Completes a reduction after the data of all ranks is combined. For kAvg, divides by
/// the world size. prepare_reduce has already divided 16-bit floats by a power of two, so
/// these are divided by (world size / that power of two).
void finish_reduce(Elements data, int world_size, ReduceOp op);

}  // namespace mini::dist
