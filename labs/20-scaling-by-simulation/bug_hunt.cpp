// A bug hunt: how many ranks does this job bear? A simulation of synchronous steps, in
// which each rank draws the time of its step from measured ones.
//
//     lab20_bug_hunt
//
// Exit codes: 0 if the simulated steps take the expected time, within 5 %; else 1.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <span>
#include <vector>

#include "labs/20-scaling-by-simulation/stragglers.hpp"

namespace {

constexpr int kSteps = 4000;
constexpr int kRanksPerHost = 8;
constexpr uint64_t kSeed = 20;
constexpr double kTolerance = 0.05;

// The steps of one rank, measured: most take 10 ms, one in twenty takes longer.
std::vector<double> measured_steps() {
    std::vector<double> milliseconds(60, 10.0);
    milliseconds[17] = 15;
    milliseconds[31] = 20;
    milliseconds[52] = 55;
    return milliseconds;
}

// The times of one rank's steps.
std::vector<double> steps_of_rank(int rank, std::span<const double> measured) {
    std::mt19937_64 random(kSeed + static_cast<uint64_t>(rank / kRanksPerHost));
    std::vector<double> steps;
    for (int i = 0; i < kSteps; ++i)
        steps.push_back(measured[random() % measured.size()]);
    return steps;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

// The mean time of a synchronous step of `ranks` ranks: that of the slowest rank.
double simulated_step(int ranks, std::span<const double> measured) {
    double slowest = 0;
    for (int rank = 0; rank < ranks; ++rank)
        slowest = std::max(slowest, mean(steps_of_rank(rank, measured)));
    return slowest;
}

}  // namespace

int main() {
    const std::vector<double> measured = measured_steps();
    bool is_right = true;
    for (const int ranks : {1, 4, 64}) {
        const double simulated = simulated_step(ranks, measured);
        const double expected = mini::lab20::expected_maximum(measured, ranks);
        std::cout << fmt::format("{:>2} ranks: {:.1f} ms a step, should be {:.1f}\n",
                                 ranks, simulated, expected);
        is_right = is_right && std::abs(simulated - expected) <= kTolerance * expected;
    }
    std::cout << (is_right ? "as expected\n"
                           : "the simulation finds no stragglers, but there are some\n");
    return is_right ? 0 : 1;
}
