// A bug hunt: each rank tries another learning rate, and all ranks go on with the best.
// Nothing hangs, all ranks agree, and the loss that they agree on is the smallest.
//
//     lab11_bug_hunt
//
// Exit codes: 0 if all ranks go on with the rate of the smallest loss, 1 otherwise.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"

using namespace mini::dist;

namespace {

constexpr int kSteps = 30;

// A learning rate, and the loss after training with it.
struct Tried {
    float loss = 0;
    float rate = 0;
};

// Returns the loss after kSteps steps of gradient descent on a bowl of four widths.
float loss_with(float rate) {
    const std::array<float, 4> widths{1.0f, 2.0f, 5.0f, 10.0f};
    float loss = 0;
    for (const float width : widths) {
        float w = 1;
        for (int step = 0; step < kSteps; ++step) w -= rate * width * w;
        loss += width * w * w / 2;
    }
    return loss;
}

// Returns the best of what the ranks have tried: that of the smallest loss.
Tried best_of(Transport& transport, const Tried& mine) {
    std::array<float, 2> best{mine.loss, mine.rate};
    ring_all_reduce(transport, Elements(std::span<float>(best)), ReduceOp::kMin);
    return {.loss = best[0], .rate = best[1]};
}

// Prints what `world_size` ranks agree on. Returns whether it is right.
bool search(int world_size) {
    std::vector<Tried> tried, agreed(static_cast<size_t>(world_size));
    for (int rank = 0; rank < world_size; ++rank) {
        const float rate = 0.03f * static_cast<float>(rank + 1);
        tried.push_back({.loss = loss_with(rate), .rate = rate});
    }
    run_cluster({.world_size = world_size, .links = parse_links("10Gbit,10us")},
                [&](Transport& transport) {
                    const auto rank = static_cast<size_t>(transport.rank());
                    agreed[rank] = best_of(transport, tried[rank]);
                });
    const Tried best = *std::ranges::min_element(tried, {}, &Tried::loss);
    const bool right = std::ranges::all_of(agreed, [&](const Tried& each) {
        return each.loss == best.loss && each.rate == best.rate;
    });
    std::cout << fmt::format(
        "{} ranks: the best rate is {:.2f}, with the loss {:.5f}; with this rate the "
        "loss "
        "is {:.5f}{}\n",
        world_size, agreed[0].rate, agreed[0].loss, loss_with(agreed[0].rate),
        right ? "" : "   wrong");
    return right;
}

}  // namespace

int main() try {
    bool right = true;
    for (const int world_size : {1, 2, 3, 4, 7}) right = search(world_size) && right;
    std::cout << (right ? "all ranks go on with the best rate\n"
                        : "the ranks do not go on with the best rate\n");
    return right ? 0 : 1;
} catch (const mini::Error& error) {
    std::cout << "the search failed: " << error.what() << '\n';
    return 1;
}
