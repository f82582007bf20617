// Compares the generators with published numbers, and tests their contracts.

#include "libmini/random/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <thread>

#include "libmini/core/error.hpp"
#include "tests/random/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::Generator;
using mini::test::normals;

namespace {

std::vector<float> uniforms(size_t n, Generator& generator) {
    std::vector<float> values(n);
    mini::fill_uniform(values, 0, 1, generator);
    return values;
}

std::vector<int64_t> integers(int n, int64_t low, int64_t high, Generator& generator) {
    std::vector<int64_t> values;
    for (int i = 0; i < n; ++i) values.push_back(generator.randint(low, high));
    return values;
}

using Order = std::vector<int64_t>;

// Compares with a tolerance, because some published numbers have only 7 digits.
void check_close(const std::vector<float>& actual, const std::vector<float>& expected) {
    REQUIRE(actual.size() == expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
        CAPTURE(i, actual[i], expected[i]);
        CHECK(std::abs(actual[i] - expected[i]) < 1e-7f);
    }
}

// Returns the number of words that `draw` takes from a generator of the given version.
template <typename Draw>
int words_taken(mini::TorchVersion version, const Draw& draw) {
    Generator generator(11), words(11);
    generator.set_version(version);
    draw(generator);
    const uint64_t after = generator.random64();
    uint64_t last = words.random();
    for (int taken = 0; taken < 1000; ++taken) {
        const uint64_t next = words.random();
        if ((last << 32 | next) == after) return taken;
        last = next;
    }
    return -1;
}

}  // namespace

TEST_CASE("a seed gives the same words as in PyTorch") {
    const auto first_words = [](uint64_t seed) {
        Generator generator(seed);
        std::vector<uint32_t> words;
        for (int i = 0; i < 4; ++i) words.push_back(generator.random());
        return words;
    };
    using Words = std::vector<uint32_t>;
    CHECK(first_words(0) == Words{2357136044u, 2546248239u, 3071714933u, 3626093760u});
    CHECK(first_words(1234) == Words{822569775u, 2137449171u, 2671936806u, 3512589365u});
    CHECK(first_words(137) == Words{4053805790u, 2173880614u, 380293709u, 1237255315u});
}

TEST_CASE("seeds equal modulo 2^32 give the same words but keep their initial_seed") {
    Generator small(5);
    Generator large(5 + (uint64_t{1} << 32));
    CHECK(small.random64() == large.random64());
    CHECK(small.initial_seed() == 5);
    CHECK(large.initial_seed() == 4294967301u);
}

TEST_CASE("uniform doubles equal torch.rand in float64") {
    Generator generator(0);
    CHECK(generator.uniform_double() == 0.9700530018065531);
    CHECK(generator.uniform_double() == 0.707819864399788);
    CHECK(generator.uniform_double() == 0.45938294312745087);
    CHECK(generator.uniform_double() == 0.9207476841219603);
}

TEST_CASE(
    "uniform floats in a range equal the weights of a torch.nn.Linear with 2 inputs") {
    // The bound of nn.Linear for 2 inputs is 1 / sqrt(2). The weights depend on the
    // rounding.
    const double bound = std::sqrt(0.5);
    std::vector<float> weight(2);
    Generator generator(0);
    mini::fill_uniform(weight, -bound, bound, generator);
    CHECK(weight == std::vector{-0.005293981172144413f, 0.37932288646698f});

    generator.manual_seed(0);
    generator.set_rounding(mini::Rounding::kSeparate);
    mini::fill_uniform(weight, -bound, bound, generator);
    CHECK(weight == std::vector{-0.0052939653396606445f, 0.37932294607162476f});
}

TEST_CASE("random_int64 returns two words without the sign bit") {
    Generator words(1234), integers(1234);
    bool sign_bit_seen = false;
    for (int i = 0; i < 8; ++i) {
        const uint64_t expected = words.random64();
        sign_bit_seen = sign_bit_seen || expected >> 63 == 1;
        CHECK(integers.random_int64() ==
              static_cast<int64_t>(expected & ~(uint64_t{1} << 63)));
    }
    CHECK(sign_bit_seen);
}

TEST_CASE("floats equal published results of torch.rand and torch.randn") {
    Generator generator(0);
    CHECK(uniforms(8, generator) ==
          std::vector<float>{0.49625658988952637f, 0.7682217955589294f,
                             0.08847743272781372f, 0.13203048706054688f,
                             0.30742281675338745f, 0.6340786814689636f,
                             0.4900934100151062f, 0.8964447379112244f});
    generator.manual_seed(42);
    check_close(uniforms(3, generator), {0.8822693f, 0.91500396f, 0.38286376f});
    generator.manual_seed(0);
    CHECK(normals(6, generator) ==
          std::vector<float>{1.5409960746765137f, -0.293428897857666f,
                             -2.1787893772125244f, 0.5684312582015991f,
                             -1.0845223665237427f, -1.3985954523086548f});
    generator.manual_seed(1234);
    CHECK(normals(4, generator) ==
          std::vector<float>{0.0461304634809494f, 0.4024028182029724f,
                             -1.0115290880203247f, 0.2167382389307022f});
}

TEST_CASE("integers and later draws equal published results of torch.randint") {
    Generator generator(0);
    CHECK(integers(10, 0, 17, generator) == Order{7, 3, 12, 16, 2, 0, 16, 10, 6, 5});

    // Both calls draw six words, so the following normal numbers are equal.
    const std::vector<float> after = {-0.85447514f, 0.50984222f, -0.08205455f,
                                      0.66073167f};
    generator.manual_seed(1234);
    CHECK(integers(6, 0, 100, generator) == Order{75, 71, 6, 65, 16, 64});
    check_close(normals(4, generator), after);
    generator.manual_seed(1234);
    CHECK(integers(3, 0, int64_t{1} << 40, generator) ==
          Order{204000912083, 166721346613, 878802328948});
    check_close(normals(4, generator), after);
}

TEST_CASE("draws of different kinds share one sequence of words") {
    Generator generator(1234);
    normals(3, generator);
    CHECK(integers(4, 0, 100, generator) == Order{75, 29, 43, 41});
    check_close(uniforms(2, generator), {0.77485049f, 0.82080257f});

    generator.manual_seed(1234);
    CHECK(mini::randperm(6, generator) == Order{3, 2, 4, 5, 1, 0});
    check_close(normals(4, generator),
                {-1.30546951f, -1.01470625f, -0.68631357f, -0.96611220f});
}

TEST_CASE(
    "randint draws two words for ranges of at least 2^32 or since PyTorch 2.7 of 2^28") {
    const auto words = [](mini::TorchVersion version, int64_t low, int64_t range) {
        return words_taken(version, [&](Generator& g) { g.randint(low, low + range); });
    };
    const int64_t low = GENERATE(int64_t{0}, int64_t{-1'000'000'000'000});
    const int64_t small = int64_t{1} << 28, large = int64_t{1} << 32;
    for (const mini::TorchVersion old : {mini::TorchVersion{1, 13}, {2, 6}}) {
        CHECK(words(old, low, small) == 1);
        CHECK(words(old, low, large - 1) == 1);
        CHECK(words(old, low, large) == 2);
    }
    for (const mini::TorchVersion fresh : {mini::TorchVersion{2, 7}, {2, 10}, {3, 0}}) {
        CHECK(words(fresh, low, small - 1) == 1);
        CHECK(words(fresh, low, small) == 2);
        CHECK(words(fresh, low, large) == 2);
    }
}

TEST_CASE("randint supports the range from the minimum to the maximum int64") {
    constexpr int64_t least = std::numeric_limits<int64_t>::min();
    constexpr int64_t greatest = std::numeric_limits<int64_t>::max();
    Generator generator(1), words(1);
    const uint64_t word = words.random64();
    CHECK(static_cast<uint64_t>(generator.randint(least, greatest)) ==
          static_cast<uint64_t>(least) + word % UINT64_MAX);
    CHECK(generator.randint(greatest - 1, greatest) == greatest - 1);
}

TEST_CASE("randint with an empty range throws an Error that names both bounds") {
    Generator generator;
    CHECK(mini::test::message_of([&] { generator.randint(5, 5); }).find("from 5 to 5") !=
          std::string::npos);
    CHECK(mini::test::message_of([&] {
              generator.randint(3, -3);
          }).find("from 3 to -3") != std::string::npos);
}

TEST_CASE("doubles are rounded according to set_rounding") {
    // The expected numbers are of PyTorch 1.13.1 with and without AVX2, each with seed 7:
    // torch.empty(2, dtype=torch.float64).uniform_(-0.31, 0.7), and the first and the
    // 13th of 20 numbers of normal_(1.1, 0.3).
    const bool fused = GENERATE(false, true);
    Generator generator(7);
    generator.set_rounding(fused ? mini::Rounding::kFused : mini::Rounding::kSeparate);
    std::vector<double> uniform(2), normal(20);
    mini::fill_uniform(uniform, -0.31, 0.7, generator);
    CHECK(uniform[0] == (fused ? -0x1.c7e5b884b7036p-6 : -0x1.c7e5b884b7030p-6));
    CHECK(uniform[1] == (fused ? -0x1.1300072064fabp-5 : -0x1.1300072064fa8p-5));

    generator.manual_seed(7);
    mini::fill_normal(normal, 1.1, 0.3, generator);
    CHECK(normal[0] == 0x1.1eb0790c4b2aep+0);
    CHECK(normal[12] == (fused ? 0x1.9f64c7521c873p+0 : 0x1.9f64c7521c872p+0));
}

TEST_CASE("some normal doubles differ in the last bit before PyTorch 2.0") {
    // PyTorch 1.13.1: torch.randn(5, dtype=torch.float64)[2] with seed 1234
    Generator old(1234), fresh(1234);
    old.set_version({1, 13});
    std::vector<double> before(5), since(5);
    mini::fill_normal(before, 0, 1, old);
    mini::fill_normal(since, 0, 1, fresh);
    CHECK(before[2] == -0x1.02f39229f0987p+0);
    CHECK(since[2] == -0x1.02f39229f0988p+0);
    CHECK(before[0] == since[0]);
}

TEST_CASE("exponential numbers of rate 0.3 equal Tensor.exponential_") {
    // PyTorch 1.13.1: torch.empty(3, dtype=...).exponential_(0.3) with seed 7
    Generator generator(7);
    std::vector<double> doubles(3);
    for (double& value : doubles) value = generator.exponential_double(0.3);
    CHECK(doubles == std::vector<double>{0x1.1796e83926cc7p+0, 0x1.10e1c3e49e0d6p+0,
                                         0x1.a6a69871236c3p+2});
    generator.manual_seed(7);
    std::vector<float> floats(3);
    for (float& value : floats)
        value = static_cast<float>(generator.exponential_double(0.3));
    CHECK(floats == std::vector<float>{0x1.1796e8p+0f, 0x1.10e1c4p+0f, 0x1.a6a698p+2f});

    for (const double lambda : {0.0, -1.0, std::nan("")})
        CHECK_THROWS_AS(generator.exponential_double(lambda), mini::Error);
}

TEST_CASE("an odd number of normal floats leaves a spare number that a new seed drops") {
    Generator generator(1234);
    const std::vector<float> four = normals(4, generator);

    generator.manual_seed(1234);
    const std::vector<float> three = normals(3, generator);
    CHECK(normals(1, generator)[0] == four[3]);

    generator.manual_seed(1234);
    normals(3, generator);
    generator.manual_seed(1234);
    CHECK(normals(1, generator)[0] == four[0]);
}

TEST_CASE("normal numbers have the given mean and deviation") {
    // Except for one seed in a million, the mean of n numbers differs from the true mean
    // by less than 5 deviation / sqrt(n), and the deviation of the numbers differs from
    // the true deviation by less than 5 deviation / sqrt(2n).
    constexpr size_t n = 100'000;
    const double mean = 3, deviation = 0.5;
    Generator generator(7);
    std::vector<float> values(n);
    mini::fill_normal(values, mean, deviation, generator);

    double sum = 0, squares = 0;
    for (const float value : values) sum += value;
    for (const float value : values) squares += (value - sum / n) * (value - sum / n);
    CHECK(std::abs(sum / n - mean) < 5 * deviation / std::sqrt(n));
    CHECK(std::abs(std::sqrt(squares / n) - deviation) <
          5 * deviation / std::sqrt(2.0 * n));
}

TEST_CASE("a bernoulli draw uses two words and is exact for probabilities 0 and 1") {
    const double probability = GENERATE(0.0, 1.0);
    std::vector<float> values(1000);
    Generator generator(1), words(1);
    mini::fill_bernoulli(values, probability, generator);
    CHECK(values == std::vector<float>(1000, static_cast<float>(probability)));

    for (int i = 0; i < 2000; ++i) words.random();
    CHECK(generator.random() == words.random());
}

TEST_CASE("a bernoulli draw is 1 where a uniform double is below the probability") {
    const double drawn = Generator(1).uniform_double();
    const double probability =
        GENERATE_COPY(0.3, drawn, std::nextafter(drawn, 1.0), std::nextafter(drawn, 0.0));
    const size_t n = GENERATE(1, 64, 131);
    std::vector<float> values(n);
    Generator generator(1), uniform(1);
    mini::fill_bernoulli(values, probability, generator);
    for (const float value : values)
        REQUIRE(value == (uniform.uniform_double() < probability ? 1.0f : 0.0f));
    CHECK(generator.random() == uniform.random());
}

TEST_CASE("a probability below 0 or above 1 or NaN throws Error") {
    const double probability =
        GENERATE(-0.1, 1.5, std::numeric_limits<double>::quiet_NaN());
    std::vector<float> values(1);
    Generator generator;
    CHECK_THROWS_AS(mini::fill_bernoulli(values, probability, generator), mini::Error);
}

TEST_CASE("an empty range of uniform numbers and a negative deviation throw Error") {
    Generator generator;
    std::vector<float> floats(20);
    CHECK_THROWS_AS(mini::fill_uniform(floats, 1, 0, generator), mini::Error);
    CHECK_THROWS_AS(mini::fill_uniform(floats, NAN, 1, generator), mini::Error);
    CHECK_THROWS_AS(mini::fill_normal(floats, 0, -1, generator), mini::Error);
    CHECK_THROWS_AS(mini::fill_normal(floats, 0, NAN, generator), mini::Error);
    CHECK(generator.random() == Generator().random());  // nothing was drawn
}

TEST_CASE("randperm gives published results of torch.randperm") {
    const auto perm = [](int64_t n, uint64_t seed) {
        Generator generator(seed);
        return mini::randperm(n, generator);
    };
    CHECK(perm(10, 0) == Order{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
    CHECK(perm(10, 1) == Order{5, 6, 1, 2, 0, 8, 9, 3, 7, 4});
    CHECK(perm(10, (uint64_t{1} << 32) + 1) == perm(10, 1));
    CHECK(perm(10, 42) == Order{2, 6, 1, 8, 4, 5, 0, 9, 3, 7});
    CHECK(perm(10, (uint64_t{1} << 53) - 1) == Order{1, 4, 6, 2, 0, 5, 8, 7, 9, 3});
    CHECK(perm(0, 1).empty());
    CHECK(perm(1, 1) == Order{0});
}

TEST_CASE("a permutation of n numbers draws n - 1 words") {
    const int64_t n = GENERATE(1, 2, 10);
    Generator generator(3), words(3);
    mini::randperm(n, generator);
    for (int64_t i = 0; i < n - 1; ++i) words.random();
    CHECK(generator.random() == words.random());
}

TEST_CASE("a permutation drawn in blocks equals a permutation drawn swap by swap") {
    const int64_t n = GENERATE(2, 255, 256, 257, 258, 512, 513, 1000);
    CAPTURE(n);
    Generator generator(9), words(9);
    Order expected(static_cast<size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    for (size_t i = 0; i + 1 < expected.size(); ++i)
        std::swap(expected[i], expected[i + words.random() % (expected.size() - i)]);
    CHECK(mini::randperm(n, generator) == expected);
    CHECK(generator.random() == words.random());
}

TEST_CASE("randperm_wide swaps each number with an earlier number or itself") {
    const int64_t n = GENERATE(0, 1, 2, 7, 1000);
    Generator generator(4), words(4);
    Order expected;
    for (int64_t i = 0; i < n; ++i) {
        expected.push_back(i);
        std::swap(expected.back(),
                  expected[words.random64() % static_cast<uint64_t>(i + 1)]);
    }
    CHECK(mini::randperm_wide(n, generator) == expected);
    CHECK(generator.random() == words.random());

    Order sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < n; ++i) REQUIRE(sorted[static_cast<size_t>(i)] == i);
}

TEST_CASE("randperm rejects negative and huge sizes before it allocates memory") {
    Generator generator;
    for (const int64_t n :
         {int64_t{-1}, int64_t{1} << 32, std::numeric_limits<int64_t>::max()}) {
        CHECK_THROWS_AS(mini::randperm(n, generator), mini::Error);
        CHECK_THROWS_AS(mini::randperm_u32(n, generator), mini::Error);
    }
    CHECK_THROWS_AS(mini::randperm_wide(-1, generator), mini::Error);
}

TEST_CASE("each thread has its own default generator with PyTorch's default seed") {
    mini::manual_seed(99);
    uint64_t seed_elsewhere = 0;
    std::thread([&] {
        seed_elsewhere = mini::default_generator().initial_seed();
    }).join();
    CHECK(seed_elsewhere == Generator::kDefaultSeed);
    CHECK(mini::default_generator().initial_seed() == 99);

    Generator same(99);
    CHECK(mini::default_generator().random() == same.random());
    mini::manual_seed(Generator::kDefaultSeed);
}
