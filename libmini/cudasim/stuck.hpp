// Says where the threads of a block stand when none of them can go on.

#pragma once

#include <span>
#include <string>

#include "libmini/cudasim/launch.hpp"

namespace mini::sim {

/// "kernel f(float*), block (0, 1, 0): no thread can go on: 31 threads (0, 1, 2, ...) wait at
/// __syncthreads(), ..."
std::string stuck_message(const Launch& launch, const Coordinates& of_one,
                          std::span<const ThreadState> states);

}  // namespace mini::sim
