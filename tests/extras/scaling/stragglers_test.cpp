#include "libmini/extras/scaling/stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"

namespace mini::scaling {
namespace {

const std::vector<double> kTimes{20, 10, 10, 10};

TEST_CASE("the expected maximum of two draws has the value computed by hand") {
    // Both draws are 10 with probability 9/16.
    CHECK(std::abs(expected_maximum(kTimes, 2) - (10 * 9 / 16.0 + 20 * 7 / 16.0)) <
          1e-12);
    CHECK(std::abs(expected_maximum(kTimes, 1) - 12.5) < 1e-12);  // the mean
    CHECK(std::abs(expected_maximum(kTimes, 1000) - 20) < 1e-9);
    CHECK(expected_maximum(std::vector{7.0}, 5) == 7.0);
    CHECK_THROWS_AS(expected_maximum({}, 2), UsageError);
}

TEST_CASE("the probability of at least k events is that of the binomial distribution") {
    CHECK(std::abs(at_least(1, 3, 0.5) - 7 / 8.0) < 1e-12);
    CHECK(std::abs(at_least(2, 3, 0.5) - 4 / 8.0) < 1e-12);
    CHECK(std::abs(at_least(3, 3, 0.25) - 1 / 64.0) < 1e-12);
    CHECK(at_least(1, 4, 0.0) == 0.0);
    CHECK(at_least(4, 4, 1.0) == 1.0);
    CHECK(std::abs(at_least(1, 4096, 0.5) - 1) < 1e-9);
    CHECK(std::abs(at_least(2048, 4096, 0.5) - 0.5) < 0.01);
}

TEST_CASE("the k-th smallest of n draws agrees with draws from a random generator") {
    std::mt19937_64 random(1);
    const std::vector<double> times{3, 1, 4, 1, 5, 9, 2, 6};
    constexpr int kRounds = 40000;
    for (const auto& [k, n] : {std::pair{1, 3}, {3, 4}, {4, 4}, {7, 8}}) {
        double sum = 0;
        for (int round = 0; round < kRounds; ++round) {
            std::vector<double> draws;
            for (int i = 0; i < n; ++i) draws.push_back(times[random() % times.size()]);
            std::ranges::sort(draws);
            sum += draws[static_cast<size_t>(k - 1)];
        }
        // The standard error is below 9 / sqrt(40000) / 2; allow six of them.
        CAPTURE(k, n);
        CHECK(std::abs(expected_kth(times, k, n) - sum / kRounds) < 6 * 9 / 200.0 / 2);
    }
}

TEST_CASE("waiting for all draws is the maximum") {
    for (const int n : {1, 2, 3, 64, 1024})
        CHECK(std::abs(expected_kth(kTimes, n, n) - expected_maximum(kTimes, n)) < 1e-6);
}

}  // namespace
}  // namespace mini::scaling
