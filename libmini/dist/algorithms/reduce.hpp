// The arithmetic of all_reduce: one rank's chunk combined with another's, element by
// element.

#pragma once

#include <span>

#include "libmini/dist/reduce_op.hpp"

namespace mini::dist {

/// mine[i] = mine[i] op theirs[i]; kAvg adds, see finish_reduce. T is float, int64_t or
/// uint8_t; uint8_t wraps modulo 256. REQUIRES: equal sizes, no overlap.
template <typename T>
void reduce_into(std::span<T> mine, std::span<const T> theirs, ReduceOp op);

/// What remains to be done once all ranks are in: kAvg divides by the world size.
template <typename T>
void finish_reduce(std::span<T> data, int world_size, ReduceOp op);

}  // namespace mini::dist
