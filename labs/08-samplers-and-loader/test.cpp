// The checks of tasks 08.1 to 08.3: draws by weight, and random orders. The cases of task
// 08.k need tasks 08.1 to 08.k. Only the cases "exact" ask for PyTorch's numbers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/multinomial.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

using namespace mini::data;
using mini::concat, mini::Generator, mini::UsageError;
using mini::labs::about;
using mini::labs::Indices, mini::labs::all_of, mini::labs::sorted;
using Weights = std::vector<double>;

namespace {

std::shared_ptr<Generator> seeded(uint64_t seed) {
    return std::make_shared<Generator>(seed);
}

// Requires that something of probability p was counted about n p times in n draws: with a
// right distribution the difference exceeds 5 standard deviations for only one seed in a
// million.
void check_count(int64_t count, int64_t n, double p) {
    const double expected = static_cast<double>(n) * p;
    INFO(n << " draws of probability " << p << ": about " << expected << " of them");
    CHECK(count == about(expected, 5 * std::sqrt(expected * (1 - p))));
}

}  // namespace

// ---- 08.1

TEST_CASE("a category of weight zero is never drawn", "[lab08][lab08.1]") {
    const Weights weights = {0, 1, 0, 0, 2, 0};
    for (uint64_t seed = 0; seed < 100; ++seed) {
        Generator generator(seed);
        for (const int64_t sample : mini::multinomial(weights, 20, true, generator)) {
            INFO("weights " << concat(weights) << ", seed " << seed << ": drew "
                            << sample);
            REQUIRE((sample == 1 || sample == 4));
        }
    }
}

TEST_CASE("heavier categories are drawn more often", "[lab08][lab08.1]") {
    const int64_t n = 10'000, times = GENERATE(1, 1024);
    Generator generator(3);
    const auto scale = static_cast<double>(times);
    const Weights weights = {scale, 0, 2 * scale, 7 * scale};
    const Indices drawn = mini::multinomial(weights, n, true, generator);
    INFO("weights " << concat(weights) << ": only their ratios count");
    REQUIRE(static_cast<int64_t>(drawn.size()) == n);
    for (const int64_t i : {0, 2, 3}) {
        INFO("category " << i);
        check_count(std::ranges::count(drawn, i), n,
                    weights[static_cast<size_t>(i)] / (10 * scale));
    }
    int64_t pairs = 0;
    for (size_t k = 1; k < drawn.size(); ++k) pairs += drawn[k] == 3 && drawn[k - 1] == 3;
    INFO("the draws are independent: category 3 follows itself as often as any other");
    CHECK(pairs == about(4900, 400));
    INFO("a second call goes on with other numbers, and the same seed repeats the first");
    CHECK(mini::multinomial(weights, n, true, generator) != drawn);
    CHECK(mini::multinomial(weights, n, true, *seeded(3)) == drawn);
}

TEST_CASE("weights and numbers that are impossible are refused", "[lab08][lab08.1]") {
    Generator generator(0);
    CHECK(mini::multinomial(Weights{0, 3}, 2, true, generator) == Indices{1, 1});
    INFO("a negative weight, only zeros, no sample: check_multinomial throws");
    for (const Weights& weights : {Weights{1, -1}, Weights{0, 0}, Weights{}})
        CHECK_THROWS_AS(mini::multinomial(weights, 2, true, generator), UsageError);
    CHECK_THROWS_AS(mini::multinomial(Weights{1}, 0, true, generator), UsageError);
}

// ---- 08.2

TEST_CASE("without replacement each positive category comes once", "[lab08][lab08.2]") {
    for (uint64_t seed = 0; seed < 100; ++seed) {
        Generator generator(seed);
        const Indices drawn =
            mini::multinomial(Weights{0, 4, 0, 1, 2}, 3, false, generator);
        INFO("weights 0 4 0 1 2, 3 samples, seed " << seed << ": drew " << concat(drawn));
        REQUIRE(sorted(drawn) == Indices{1, 3, 4});
    }
}

TEST_CASE("the first sample has the weights' probabilities, and so has the next",
          "[lab08][lab08.2]") {
    const int64_t n = 10'000;
    Generator generator(4);
    std::map<Indices, int64_t> counts;
    for (int64_t k = 0; k < n; ++k)
        ++counts[mini::multinomial(Weights{1, 2, 0, 7}, 2, false, generator)];
    INFO(
        "weights 1 2 0 7, two samples, 10000 times: category 3 is first in 7 of 10, and");
    INFO("then 1 is second in 2 of 3");
    for (const auto& [first, second, p] : {std::tuple{3, 1, 0.7 * 2 / 3},
                                           {3, 0, 0.7 / 3},
                                           {1, 3, 0.2 * 7 / 8},
                                           {1, 0, 0.2 / 8},
                                           {0, 3, 0.1 * 7 / 9},
                                           {0, 1, 0.1 * 2 / 9}}) {
        INFO("first " << first << ", then " << second);
        check_count(counts[{first, second}], n, p);
    }
    CHECK(counts.size() == 6);
}

TEST_CASE("a weight of zero comes after the smallest of all others", "[lab08][lab08.2]") {
    // Most of these weights, divided by a time, are rounded to 0.
    Weights weights(40, std::numeric_limits<double>::denorm_min());
    weights[0] = weights[7] = 0;
    Indices expected;
    for (const int64_t i : all_of(40))
        if (i != 0 && i != 7) expected.push_back(i);
    INFO(
        "weights 0 and 7 are zero, the others so small that their speeds may be rounded");
    INFO("to zero: they still come before a weight of zero; hint 2 of 08.2");
    CHECK(sorted(mini::multinomial(weights, 38, false, *seeded(2))) == expected);
}

// ---- 08.3

TEST_CASE("each epoch is another permutation", "[lab08][lab08.3]") {
    const int64_t n = GENERATE(1, 2, 10), num_samples = GENERATE(1, 9, 10, 25, 30);
    RandomSampler sampler(n, {.num_samples = num_samples, .generator = seeded(3)});
    for (int epoch = 0; epoch < 2; ++epoch) {
        const Indices order = sampler.indices();
        INFO(num_samples << " samples of " << n << ", epoch " << epoch << ": "
                         << concat(order));
        REQUIRE(static_cast<int64_t>(order.size()) == num_samples);
        INFO("each run of n samples, from the first on, has each index once; hint 1");
        for (int64_t begin = 0; begin < num_samples; begin += n) {
            const int64_t end = std::min(num_samples, begin + n);
            const Indices run = sorted({order.begin() + begin, order.begin() + end});
            CHECK(std::ranges::adjacent_find(run) == run.end());
            CHECK((run.front() >= 0 && run.back() < n));
        }
    }
    RandomSampler long_order(100, {.num_samples = 200, .generator = seeded(3)});
    const Indices first = long_order.indices();
    INFO("100 samples: a permutation differs from the one before it, in an epoch too");
    CHECK(long_order.indices() != first);
    CHECK(Indices(first.begin(), first.begin() + 100) !=
          Indices(first.begin() + 100, first.end()));
}

TEST_CASE("a subset is permuted and not changed", "[lab08][lab08.3]") {
    const Indices subset = {3, 5, 7, 9, 11};
    SubsetRandomSampler sampler(subset, seeded(1));
    for (int epoch = 0; epoch < 3; ++epoch) {
        INFO("the entries 3 5 7 9 11, in any order, not their positions; epoch "
             << epoch);
        CHECK(sorted(sampler.indices()) == subset);
    }
    CHECK(SubsetRandomSampler({}, seeded(1)).indices().empty());
    CHECK(SubsetRandomSampler({7, 7}, seeded(1)).indices() == Indices{7, 7});
}

TEST_CASE("exact: five samplers give PyTorch's indices", "[lab08][lab08.3]") {
    INFO("10 samples, seed 0: the first permutation of the generator");
    CHECK(RandomSampler(10, {.generator = seeded(0)}).indices() ==
          Indices{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
    INFO("25 samples of 10: two whole permutations and half of a third");
    CHECK(RandomSampler(10, {.num_samples = 25, .generator = seeded(0)}).indices() ==
          Indices{4, 1, 7, 5, 3, 9, 0, 8, 6, 2, 3, 9, 4,
                  2, 7, 8, 6, 0, 5, 1, 4, 0, 8, 5, 9});
    INFO("the subset 3 5 7 9 11, seed 1: the entries at positions 0 4 2 3 1");
    CHECK(SubsetRandomSampler({3, 5, 7, 9, 11}, seeded(1)).indices() ==
          Indices{3, 11, 7, 9, 5});
    const Weights weights = {0.1, 0.9, 0.4, 0.7, 3.0, 0.6};
    INFO("5 draws by the weights " << concat(weights));
    CHECK(WeightedRandomSampler(weights, 5, true, seeded(0)).indices() ==
          Indices{5, 4, 4, 5, 4});
    INFO("the 5 fastest of 6, seed 1234, the fastest first");
    CHECK(WeightedRandomSampler(weights, 5, false, seeded(1234)).indices() ==
          Indices{1, 4, 5, 3, 2});
}

TEST_CASE("exact: an epoch draws as much as in PyTorch", "[lab08][lab08.3]") {
    const int64_t n = 10, num_samples = GENERATE(1, 9, 10, 11, 20, 30, 35);
    const auto generator = seeded(3);
    Generator reference(3);
    RandomSampler(n, {.num_samples = num_samples, .generator = generator}).indices();
    for (int64_t round = 0; round < num_samples / n + 1; ++round) randperm(n, reference);
    INFO(num_samples << " samples of " << n << ": PyTorch draws " << num_samples / n + 1
                     << " permutations for them, even if the last one is not used. With "
                        "one fewer, the next epoch is not PyTorch's; hint 2 of 08.3");
    CHECK(randperm(n, *generator) == randperm(n, reference));

    RandomSampler(n, {.replacement = true, .num_samples = 5, .generator = generator})
        .indices();
    for (int i = 0; i < 5; ++i) reference.randint(0, n);
    INFO("with replacement an index is one randint(0, n)");
    CHECK(generator->random64() == reference.random64());
    SubsetRandomSampler subset({3, 5, 7, 9, 11}, generator);
    subset.indices();
    randperm(5, reference);
    Indices expected = randperm(5, reference);
    for (int64_t& entry : expected) entry = 3 + 2 * entry;
    INFO(
        "the second epoch of a subset permutes the list as it was given, not as epoch 0");
    INFO("left it");
    CHECK(subset.indices() == expected);

    mini::multinomial(Weights{1, 2, 3}, 1, true, *generator);
    for (int i = 0; i < 3; ++i) reference.exponential_double();
    INFO("a single sample is drawn by the race, even with replacement");
    CHECK(generator->random64() == reference.random64());
    mini::multinomial(Weights{1, 2, 3}, 7, true, *generator);
    for (int i = 0; i < 7; ++i) reference.uniform_double();
    INFO("7 draws by weight with replacement are 7 calls of uniform_double(), whatever");
    INFO("the number of categories");
    CHECK(generator->random64() == reference.random64());
    mini::multinomial(Weights{0, 1, 2, 0, 3}, GENERATE(1, 2, 3), false, *generator);
    for (int i = 0; i < 5; ++i) reference.exponential_double();
    INFO("without replacement, 5 categories, of which two have weight zero: 5 calls of");
    INFO("exponential_double(), for any number of samples; hint 2 of 08.2");
    CHECK(generator->random64() == reference.random64());
}

TEST_CASE("exact: the end of a category, and equal speeds", "[lab08][lab08.3]") {
    const auto generator = seeded(0);
    Generator reference(0);
    RandomSampler(1, {.generator = generator}).indices();  // draws two words or none
    for (int round = 0; round < 2; ++round) randperm(1, reference);
    const double u = Generator(reference).uniform_double();
    INFO("the next draw is u = " << u << ", and category 0 ends at u");
    INFO("the first end >= u is wanted, not the first end > u; hint 2 of 08.1");
    CHECK(mini::multinomial(Weights{u, 1 - u}, 2, true, *generator)[0] == 0);

    // Most speeds are rounded to 0, 1 or 2 times the smallest positive double.
    reference = *generator;
    const Weights weights(40, std::numeric_limits<double>::denorm_min());
    std::vector<double> speeds;
    for (const double weight : weights)
        speeds.push_back(weight / reference.exponential_double());
    Indices expected = all_of(40);
    std::ranges::stable_sort(expected, [&](int64_t a, int64_t b) {
        return speeds[static_cast<size_t>(a)] > speeds[static_cast<size_t>(b)];
    });
    INFO(
        "40 equal weights, so small that many speeds are equal: the smaller index first");
    CHECK(mini::multinomial(weights, 40, false, *generator) == expected);
}
