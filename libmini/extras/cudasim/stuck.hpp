// The error message of a block in which no thread can continue.

#pragma once

#include <span>
#include <string>

#include "libmini/extras/cudasim/launch.hpp"

namespace mini::sim {

/// Returns "kernel f(float*), block (0, 1, 0): no thread can continue: 31 threads (0, 1,
/// 2, 3, ...) at __syncthreads(), ...". `of_one` is from any thread of the block.
std::string stuck_message(const Launch& launch, const Coordinates& of_one,
                          std::span<const ThreadState> states);

}  // namespace mini::sim
