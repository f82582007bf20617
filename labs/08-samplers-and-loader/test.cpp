// The checks of tasks 08.1 to 08.3: random orders, and draws by weight. The cases of task
// 08.k need tasks 08.1 to 08.k.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/multinomial.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

using namespace mini::data;
using mini::concat, mini::Generator;
using mini::labs::Indices, mini::labs::all_of, mini::labs::sorted;
using Weights = std::vector<double>;

namespace {

std::shared_ptr<Generator> seeded(uint64_t seed) {
    return std::make_shared<Generator>(seed);
}

}  // namespace

// ---- 08.1

TEST_CASE("a random order is PyTorch's permutation", "[lab08][lab08.1]") {
    RandomSampler sampler(10, {.generator = seeded(0)});
    INFO("10 samples, seed 0: the first permutation of the generator; hint 1 of 08.1");
    CHECK(sampler.indices() == Indices{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
}

TEST_CASE("longer orders are several permutations one behind the other",
          "[lab08][lab08.1]") {
    RandomSampler sampler(10, {.num_samples = 25, .generator = seeded(0)});
    INFO("25 samples of 10: two whole permutations and half of a third; hint 1 of 08.1");
    CHECK(sampler.indices() == Indices{4, 1, 7, 5, 3, 9, 0, 8, 6, 2, 3, 9, 4,
                                       2, 7, 8, 6, 0, 5, 1, 4, 0, 8, 5, 9});
}

TEST_CASE("one more permutation is drawn than is used in full", "[lab08][lab08.1]") {
    const int64_t n = 10, num_samples = GENERATE(1, 9, 10, 11, 20, 30, 35);
    const auto generator = seeded(3);
    RandomSampler sampler(n, {.num_samples = num_samples, .generator = generator});
    const Indices first = sampler.indices();
    INFO(num_samples << " samples of " << n << ": the order has " << first.size());
    CHECK(static_cast<int64_t>(first.size()) == num_samples);

    Generator reference(3);
    for (int64_t round = 0; round < num_samples / n + 1; ++round) randperm(n, reference);
    INFO("PyTorch draws " << num_samples / n + 1
                          << " permutations for them, even if the last one is not used. "
                             "With one fewer, the next epoch is not PyTorch's; hint 2 of "
                             "08.1");
    CHECK(randperm(n, *generator) == randperm(n, reference));
}

TEST_CASE("with replacement each index is a draw of its own", "[lab08][lab08.1]") {
    const int64_t n = GENERATE(1, 2, 10);
    RandomSampler sampler(
        n, {.replacement = true, .num_samples = 33, .generator = seeded(0)});
    Generator reference(0);
    for (int epoch = 0; epoch < 2; ++epoch) {
        Indices expected;
        for (int i = 0; i < 33; ++i) expected.push_back(reference.randint(0, n));
        INFO("33 indices of " << n << ", epoch " << epoch
                              << ": randint(0, n) excludes n; hint 3 of 08.1");
        CHECK(sampler.indices() == expected);
    }
}

TEST_CASE("a subset is permuted and not changed", "[lab08][lab08.1]") {
    const Indices subset = {3, 5, 7, 9, 11};
    SubsetRandomSampler sampler(subset, seeded(1));
    INFO("the entries at positions 0 4 2 3 1; hint 2 of 08.1");
    CHECK(sampler.indices() == Indices{3, 11, 7, 9, 5});

    Generator reference(1);
    randperm(5, reference);
    Indices expected = randperm(5, reference);
    for (int64_t& entry : expected) entry = subset[static_cast<size_t>(entry)];
    INFO("the second epoch permutes the list as it was given, not as epoch 0 left it");
    CHECK(sampler.indices() == expected);
    CHECK(SubsetRandomSampler({}, seeded(1)).indices().empty());
    CHECK(SubsetRandomSampler({7, 7}, seeded(1)).indices() == Indices{7, 7});
}

// ---- 08.2

TEST_CASE("draws by weight with replacement are PyTorch's", "[lab08][lab08.2]") {
    const Weights weights = {0.1, 0.9, 0.4, 0.7, 3.0, 0.6};
    WeightedRandomSampler sampler(weights, 5, true, seeded(0));
    INFO("5 draws by the weights " << concat(weights) << ", seed 0; hint 1 of 08.2");
    CHECK(sampler.indices() == Indices{5, 4, 4, 5, 4});
    INFO("1024 times the weights are the same weights: only their ratios count");
    Weights larger = weights;
    for (double& weight : larger) weight *= 1024;
    CHECK(WeightedRandomSampler(larger, 5, true, seeded(0)).indices() ==
          Indices{5, 4, 4, 5, 4});
}

TEST_CASE("a draw costs two words of the generator", "[lab08][lab08.2]") {
    Generator generator(5), reference(5);
    mini::multinomial(Weights{1, 2, 3}, 7, true, generator);
    for (int i = 0; i < 7; ++i) reference.uniform_double();
    INFO("7 draws are 7 calls of uniform_double(), whatever the number of categories");
    CHECK(generator.random64() == reference.random64());
}

TEST_CASE("a draw at the very end of a category belongs to it", "[lab08][lab08.2]") {
    const double u = Generator(0).uniform_double();
    Generator generator(0);
    INFO("the first draw is u = " << u << ", and category 0 ends at u");
    INFO("the first end >= u is wanted, not the first end > u; hint 2 of 08.2");
    CHECK(mini::multinomial(Weights{u, 1 - u}, 2, true, generator)[0] == 0);
}

TEST_CASE("a category of weight zero is never drawn", "[lab08][lab08.2]") {
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

TEST_CASE("heavier categories are drawn more often", "[lab08][lab08.2]") {
    // In n draws, the count of a category with probability p differs from n p by more
    // than 5 sqrt(n p (1 - p)) < 250 for only one seed in a million.
    const int64_t n = 10'000;
    Generator generator(3);
    std::vector<int64_t> counts(3);
    for (const int64_t sample : mini::multinomial(Weights{1, 2, 7}, n, true, generator))
        ++counts.at(static_cast<size_t>(sample));
    INFO("10000 draws by weights 1, 2, 7: about 1000, 2000, 7000; seen "
         << concat(counts));
    CHECK(std::abs(counts[0] - 1000) < 250);
    CHECK(std::abs(counts[1] - 2000) < 250);
    CHECK(std::abs(counts[2] - 7000) < 250);
}

// ---- 08.3

TEST_CASE("draws by weight without replacement are PyTorch's", "[lab08][lab08.3]") {
    const Weights weights = {0.1, 0.9, 0.4, 0.7, 3.0, 0.6};
    WeightedRandomSampler sampler(weights, 5, false, seeded(1234));
    INFO("the 5 fastest of 6, seed 1234, the fastest first; hint 1 of 08.3");
    CHECK(sampler.indices() == Indices{1, 4, 5, 3, 2});
}

TEST_CASE("every category draws a time, also those of weight zero", "[lab08][lab08.3]") {
    const int64_t num_samples = GENERATE(1, 2, 3);
    Generator generator(5), reference(5);
    mini::multinomial(Weights{0, 1, 2, 0, 3}, num_samples, false, generator);
    for (int i = 0; i < 5; ++i) reference.exponential_double();
    INFO(
        "5 categories, of which two have weight zero: 5 calls of exponential_double(), "
        "for "
        << num_samples << " samples; hint 2 of 08.3");
    CHECK(generator.random64() == reference.random64());
}

TEST_CASE("without replacement each positive category comes once", "[lab08][lab08.3]") {
    for (uint64_t seed = 0; seed < 100; ++seed) {
        Generator generator(seed);
        const Indices drawn =
            mini::multinomial(Weights{0, 4, 0, 1, 2}, 3, false, generator);
        INFO("weights 0 4 0 1 2, 3 samples, seed " << seed << ": drew " << concat(drawn));
        REQUIRE(sorted(drawn) == Indices{1, 3, 4});
    }
}

TEST_CASE("equal speeds are in the order of the indices", "[lab08][lab08.3]") {
    // All weights are the smallest positive double or 0, so most speeds are rounded to 0,
    // 1 or 2 times that double.
    const double tiny = std::numeric_limits<double>::denorm_min();
    Weights weights(40, tiny);
    weights[0] = weights[7] = 0;
    Generator generator(2), reference(2);
    std::vector<double> speeds;
    for (const double weight : weights)
        speeds.push_back(weight / reference.exponential_double());
    Indices expected;
    for (const int64_t i : all_of(40))
        if (i != 0 && i != 7) expected.push_back(i);
    std::ranges::stable_sort(expected, [&](int64_t a, int64_t b) {
        return speeds[static_cast<size_t>(a)] > speeds[static_cast<size_t>(b)];
    });
    INFO(
        "weights 0 and 7 are zero, the others so small that their speeds may be rounded");
    INFO("to zero: they still come before a weight of zero; hint 3 of 08.3");
    CHECK(mini::multinomial(weights, 38, false, generator) == expected);
}
