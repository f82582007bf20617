#include "libmini/extras/cudasim/block_seed.hpp"

#include <numeric>
#include <random>
#include <utility>

#include "libmini/extras/cudasim/settings.hpp"

namespace mini::sim {

uint64_t block_seed() {
    static const uint64_t seed = setting("MINI_SIM_BLOCK_SEED", 1, 0, 0xffffffff);
    return seed;
}

std::vector<uint32_t> order_of_blocks(uint32_t blocks, uint64_t seed) {
    std::vector<uint32_t> order(blocks);
    std::iota(order.begin(), order.end(), 0u);
    if (seed == 0) return order;
    std::mt19937_64 random(seed);
    for (uint32_t left = blocks; left > 1; --left)
        std::swap(order[left - 1], order[random() % left]);
    return order;
}

}  // namespace mini::sim
