// The contracts of the generators; random_golden_test.cpp compares their numbers.

#include "libmini/random/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

#include "libmini/core/error.hpp"
#include "tests/random/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using mini::Generator;
using mini::test::contains, mini::test::message_of, mini::test::normals;

namespace {

using Order = std::vector<int64_t>;

// Returns the number of words that `draw` takes from a generator.
template <typename Draw>
int words_taken(const Draw& draw) {
    Generator generator(11), words(11);
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

TEST_CASE("seeds equal modulo 2^32 give the same words but keep their initial_seed") {
    Generator small(5);
    Generator large(5 + (uint64_t{1} << 32));
    CHECK(small.random64() == large.random64());
    CHECK(small.initial_seed() == 5);
    CHECK(large.initial_seed() == 4294967301u);
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

TEST_CASE("randint draws two words for ranges of at least 2^28") {
    const int64_t low = GENERATE(int64_t{0}, int64_t{-1'000'000'000'000});
    const auto words = [&](int64_t range) {
        return words_taken([&](Generator& g) { g.randint(low, low + range); });
    };
    CHECK(words((int64_t{1} << 28) - 1) == 1);
    CHECK(words(int64_t{1} << 28) == 2);
    CHECK(words(int64_t{1} << 32) == 2);
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
    CHECK(contains(message_of([&] { generator.randint(5, 5); }), "from 5 to 5"));
    CHECK(contains(message_of([&] { generator.randint(3, -3); }), "from 3 to -3"));
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

TEST_CASE("the logarithm of a normal double is of PyTorch 2.0 and later") {
    // torch.randn(5, dtype=torch.float64)[2] with seed 1234; 1.13 has another last bit.
    Generator generator(1234);
    std::vector<double> values(5);
    mini::fill_normal(values, 0, 1, generator);
    CHECK(values[2] == -0x1.02f39229f0988p+0);
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

TEST_CASE("a permutation drawn in blocks equals a permutation drawn swap by swap") {
    const int64_t n = GENERATE(0, 1, 2, 10, 255, 256, 257, 258, 512, 513, 1000);
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
