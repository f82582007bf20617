// The order in which the checker runs the blocks of a launch. CUDA promises none: a
// kernel must be right in every order.

#pragma once

#include <cstdint>
#include <vector>

namespace mini::sim {

/// Returns MINI_SIM_BLOCK_SEED, 1 by default. Throws UsageError if it is not an integer.
uint64_t block_seed();

/// Returns the numbers 0 to blocks - 1 in an order drawn from `seed`, or in ascending
/// order if the seed is 0. The order is the same on every machine.
std::vector<uint32_t> order_of_blocks(uint32_t blocks, uint64_t seed);

}  // namespace mini::sim
