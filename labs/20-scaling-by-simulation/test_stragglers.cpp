// The checks of lab 20, task 20.5: the slowest of n ranks, and the k-th fastest.

#include <cmath>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/stragglers.hpp"
#include "labs/check/both_values.hpp"
#include "tests/support/catch.hpp"

using namespace mini;

namespace {

void check_value(double value, double expected, const std::string& reason) {
    INFO("yours " << value << ", expected " << expected << ": " << reason);
    REQUIRE(value == labs::about(expected, 1e-6 * expected));
}

}  // namespace

TEST_CASE("one draw has the mean of the times, and two the mean of the larger",
          "[lab20][lab20.5]") {
    const std::vector<double> times{20, 10, 10, 10};
    INFO("the times 20 10 10 10, each with probability 1/4; hint 1 of 20.5 helps");
    check_value(lab20::expected_maximum(times, 1), 12.5, "the mean of the four");
    check_value(lab20::expected_maximum(times, 2), 10 * 9 / 16.0 + 20 * 7 / 16.0,
                "both draws are 10 with probability 3/4 * 3/4, else the larger is 20");
    check_value(lab20::expected_maximum(times, 64), 20, "one of 64 nearly always is 20");
}

TEST_CASE("the maximum of two different times by hand", "[lab20][lab20.5]") {
    const std::vector<double> times{3, 1, 2};
    check_value(lab20::expected_maximum(times, 2), (1 * 1 + 3 * 2 + 5 * 3) / 9.0,
                "of the 9 pairs of 1, 2, 3 the maximum is 1 once, 2 three times, 3 five");
}

TEST_CASE("at least k of n events by hand", "[lab20][lab20.5]") {
    INFO("a coin is thrown three times; hint 2 of 20.5 helps");
    check_value(lab20::at_least(1, 3, 0.5), 7 / 8.0, "1 - the probability of none");
    check_value(lab20::at_least(2, 3, 0.5), 4 / 8.0,
                "two heads in 3 of 8 cases, three in 1");
    check_value(lab20::at_least(3, 3, 0.5), 1 / 8.0, "three heads");
    check_value(lab20::at_least(2, 3, 0.25), 10 / 64.0,
                "an event of probability 1/4: 3 * 1/4 * 1/4 * 3/4 + 1/64");
}

TEST_CASE("at least k of a thousand events: the coefficients do not overflow",
          "[lab20][lab20.5]") {
    INFO("1024 choose 512 has 307 digits, 2048 choose 1024 has 615: take logarithms");
    check_value(lab20::at_least(1, 2048, 0.5), 1, "one of 2048 throws is heads");
    check_value(lab20::at_least(1024, 2047, 0.5), 0.5,
                "of an odd number of throws, half or more are heads as often as not");
}

TEST_CASE("two backup ranks hide two stragglers", "[lab20][lab20.5]") {
    std::vector<double> times(100, 10.0);
    times[17] = 40;  // one step in a hundred
    INFO("a step takes 10 ms, one in a hundred 40 ms; 64 ranks");
    check_value(lab20::expected_kth(times, 64, 64), 40 - 30 * std::pow(0.99, 64),
                "all 64 are fast with probability 0.99^64");
    check_value(lab20::expected_maximum(times, 64), 40 - 30 * std::pow(0.99, 64),
                "the same by expected_maximum");
    double fast = 0;  // the probability that at most 2 of 66 are slow
    for (const auto& [slow, ways] : {std::pair{0, 1.0}, {1, 66.0}, {2, 66 * 65 / 2.0}})
        fast += ways * std::pow(0.01, slow) * std::pow(0.99, 66 - slow);
    check_value(lab20::expected_kth(times, 64, 66), 40 - 30 * fast,
                "the 64 fastest of 66 are fast if at most 2 are slow");
}
