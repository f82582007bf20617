// Compares multinomial with torch.multinomial, and tests its contract.

#include "libmini/random/multinomial.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

using mini::Generator;
using mini::multinomial;

using mini::test::contains;

namespace {

using Weights = std::vector<double>;

std::string error_message(const Weights& weights, int64_t num_samples, bool replacement) {
    Generator generator(0);
    return mini::test::message_of<mini::UsageError>(
        [&] { multinomial(weights, num_samples, replacement, generator); });
}

}  // namespace

TEST_CASE("multinomial equals torch's WeightedRandomSampler") {
    int with = 0, without = 0;
    for (const auto& golden : golden_cases("samplers")) {
        if (golden.at("sampler") != "WeightedRandomSampler") continue;
        CAPTURE(golden.dump());
        const bool replacement = golden.at("replacement");
        Generator generator(golden.at("seed").get<uint64_t>());
        CHECK(multinomial(golden.at("weights").get<Weights>(), golden.at("num_samples"),
                          replacement,
                          generator) == golden.at("indices").get<std::vector<int64_t>>());
        ++(replacement ? with : without);
    }
    CHECK(with == 21);
    CHECK(without == 13);
}

TEST_CASE("two words are drawn per sample with replacement and per category without") {
    const Weights weights = {1, 2, 3, 0};
    const auto words_taken = [&](int64_t num_samples, bool replacement) {
        Generator generator(5), words(5);
        multinomial(weights, num_samples, replacement, generator);
        const uint64_t after = generator.random64();
        for (int taken = 0; taken < 100; taken += 2)
            if (words.random64() == after) return taken;
        return -1;
    };
    CHECK(words_taken(10, true) == 20);
    CHECK(words_taken(1, true) == 8);
    CHECK(words_taken(3, false) == 8);
}

TEST_CASE("a uniform number above the end of a category's interval selects the next") {
    const double below = std::nextafter(Generator(0).uniform_double(), 0);
    Generator generator(0);
    CHECK(multinomial(Weights{below, 1 - below}, 2, true, generator)[0] == 1);
}

TEST_CASE("a category of weight zero is never drawn even if all other weights are tiny") {
    const double tiny = GENERATE(1.0, std::numeric_limits<double>::denorm_min());
    const bool replacement = GENERATE(true, false);
    const Weights weights = {0, tiny, 0, tiny, 0};
    for (uint64_t seed = 0; seed < 200; ++seed) {
        Generator generator(seed);
        for (const int64_t sample : multinomial(weights, 2, replacement, generator))
            REQUIRE(sample % 2 == 1);
    }
}

TEST_CASE("the error message names a weight that is negative or infinite or NaN") {
    const bool replacement = GENERATE(true, false);
    CHECK(contains(error_message({1, -0.5, 2}, 2, replacement), "weight 1 is -0.5"));
    CHECK(
        contains(error_message({1, 2, std::nan("")}, 2, replacement), "weight 2 is nan"));
    CHECK(contains(error_message({HUGE_VAL, 2, 1}, 2, replacement), "weight 0 is inf"));
    CHECK(contains(error_message({1e308, 1e308, 1}, 2, replacement), "add up to inf"));
}

TEST_CASE("weights without a positive weight or fewer than one sample throw UsageError") {
    const bool replacement = GENERATE(true, false);
    CHECK(contains(error_message({0, 0, 0}, 1, replacement), "none of the 3 weights"));
    CHECK(contains(error_message({}, 1, replacement), "none of the 0 weights"));
    CHECK(contains(error_message({1, 2}, 0, replacement), "num_samples is 0"));
    CHECK(contains(error_message({1, 2}, -3, replacement), "num_samples is -3"));
}

TEST_CASE("without replacement more samples than positive weights throw UsageError") {
    CHECK(contains(error_message({1, 0, 2}, 3, false),
                   "3 samples without replacement, but only 2 of the 3"));
    CHECK(error_message({1, 0, 2}, 3, true).empty());
}
