// The simulator's settings, read from environment variables.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::sim {

/// Returns the integer in an environment variable, or `default_value` if it is not set.
/// Throws UsageError if the value is not an integer in [min, max].
inline size_t setting(const char* name, size_t default_value, size_t min, size_t max) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return default_value;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (*end != '\0' || *text == '-' || value < min || value > max)
        throw UsageError(
            concat(name, "=", text, ": must be an integer from ", min, " to ", max));
    return value;
}

/// Returns MINI_SIM_BLOCK_SEED, 1 by default: the seed of the order in which the checker runs
/// the blocks of a launch. CUDA promises none: a kernel must be right in every order. Throws UsageError if it is not an integer.
inline uint64_t block_seed() {
    static const uint64_t seed = setting("MINI_SIM_BLOCK_SEED", 1, 0, 0xffffffff);
    return seed;
}

/// Returns the numbers 0 to blocks - 1 in an order drawn from `seed`, or in ascending
/// order if the seed is 0. The order is the same on every machine.
inline std::vector<uint32_t> order_of_blocks(uint32_t blocks, uint64_t seed) {
    std::vector<uint32_t> order(blocks);
    std::iota(order.begin(), order.end(), 0u);
    if (seed == 0) return order;
    std::mt19937_64 random(seed);
    for (uint32_t left = blocks; left > 1; --left)
        std::swap(order[left - 1], order[random() % left]);
    return order;
}

}  // namespace mini::sim
