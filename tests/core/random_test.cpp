// The generators against numbers published by others, and their contracts.

#include "libmini/core/random.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"

using mini::Generator;

namespace {

std::vector<float> normals(size_t n, Generator& generator) {
    std::vector<float> values(n);
    mini::fill_normal(values, 0, 1, generator);
    return values;
}

std::vector<int64_t> shuffled(int64_t n, int64_t seed) {
    std::vector<int64_t> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    mini::PythonRandom(seed).shuffle(values);
    return values;
}

using Order = std::vector<int64_t>;

}  // namespace

TEST_CASE("a seed gives the words that PyTorch gives") {
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

TEST_CASE("seeds that agree modulo 2^32 give the same words and keep their own name") {
    Generator small(5);
    Generator large(5 + (uint64_t{1} << 32));
    CHECK(small.random64() == large.random64());
    CHECK(small.initial_seed() == 5);
    CHECK(large.initial_seed() == 4294967301u);
}

TEST_CASE("uniform doubles are torch.rand's in float64") {
    Generator generator(0);
    CHECK(generator.uniform_double() == 0.9700530018065531);
    CHECK(generator.uniform_double() == 0.707819864399788);
    CHECK(generator.uniform_double() == 0.45938294312745087);
    CHECK(generator.uniform_double() == 0.9207476841219603);
}

TEST_CASE("uniform floats in a range are the weights of torch.nn.Linear(2, 1)") {
    // Kaiming's bound for 2 inputs is 1 / sqrt(2). The first weight tells builds apart.
    const double bound = std::sqrt(0.5);
    std::vector<float> weight(2);
    Generator generator(0);
    mini::fill_uniform(weight, -bound, bound, generator);
    CHECK(weight[0] == -0.0052939653396606445f);
    CHECK(weight[1] == 0.37932294607162476f);

    generator.manual_seed(0);
    generator.set_rounding(mini::Rounding::kFused);
    mini::fill_uniform(weight, -bound, bound, generator);
    CHECK(weight[0] == -0.0052939812f);
}

TEST_CASE("a 64-bit integer is two words without the sign bit") {
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

TEST_CASE("normal floats go on where other draws of the same generator stopped") {
    Generator generator(1234);
    CHECK(mini::randperm(6, generator) == Order{3, 2, 4, 5, 1, 0});
    const std::vector<float> expected = {-1.30546951f, -1.01470625f, -0.68631357f,
                                         -0.96611220f};
    const std::vector<float> actual = normals(4, generator);
    for (size_t i = 0; i < 4; ++i) CHECK(std::abs(actual[i] - expected[i]) < 1e-6f);
}

TEST_CASE("an odd number of normal floats leaves a spare one, which a new seed drops") {
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

TEST_CASE("the normal distribution has the mean and the deviation asked for") {
    // The mean of n numbers lies within 5 deviation / sqrt(n) of the true one but for one
    // seed in a million, and the deviation within 5 deviation / sqrt(2n).
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

TEST_CASE("a bernoulli draw takes two words and never errs at the ends") {
    const double probability = GENERATE(0.0, 1.0);
    std::vector<float> values(1000);
    Generator generator(1), words(1);
    mini::fill_bernoulli(values, probability, generator);
    CHECK(values == std::vector<float>(1000, static_cast<float>(probability)));

    for (int i = 0; i < 2000; ++i) words.random();
    CHECK(generator.random() == words.random());
}

TEST_CASE("a probability below 0 or above 1, or none at all, is refused") {
    const double probability =
        GENERATE(-0.1, 1.5, std::numeric_limits<double>::quiet_NaN());
    std::vector<float> values(1);
    Generator generator;
    CHECK_THROWS_AS(mini::fill_bernoulli(values, probability, generator), mini::Error);
}

TEST_CASE("published permutations of torch.randperm come out") {
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

TEST_CASE("a permutation of n takes n - 1 words") {
    const int64_t n = GENERATE(1, 2, 10);
    Generator generator(3), words(3);
    mini::randperm(n, generator);
    for (int64_t i = 0; i < n - 1; ++i) words.random();
    CHECK(generator.random() == words.random());
}

TEST_CASE(
    "a permutation of a negative or enormous size is refused before memory is taken") {
    const int64_t n =
        GENERATE(int64_t{-1}, int64_t{214'748'364}, std::numeric_limits<int64_t>::max());
    Generator generator;
    CHECK_THROWS_AS(mini::randperm(n, generator), mini::Error);
}

TEST_CASE("published shuffles of random.Random come out") {
    CHECK(shuffled(10, 1234) == Order{2, 8, 3, 5, 6, 4, 9, 0, 1, 7});
    CHECK(shuffled(10, 0) == Order{7, 8, 1, 5, 3, 4, 2, 0, 9, 6});
    CHECK(shuffled(10, 42) == Order{7, 3, 2, 8, 5, 6, 9, 4, 0, 1});
    CHECK(shuffled(10, -42) == shuffled(10, 42));
    CHECK(shuffled(10, int64_t{1} << 32) != shuffled(10, 0));

    // random.Random(-2**63).shuffle(list(range(10))), by CPython 3.11
    CHECK(shuffled(10, std::numeric_limits<int64_t>::min()) ==
          Order{5, 7, 9, 2, 0, 4, 1, 3, 6, 8});
}

TEST_CASE("getrandbits takes the high bits of a word") {
    // [random.Random(0).getrandbits(bits) for bits in (32, 1, 8)], by CPython 3.11
    CHECK(mini::PythonRandom(0).getrandbits(32) == 3626764237u);
    CHECK(mini::PythonRandom(0).getrandbits(1) == 1u);
    CHECK(mini::PythonRandom(0).getrandbits(8) == 216u);
    CHECK_THROWS_AS(mini::PythonRandom(0).getrandbits(0), mini::Error);
    CHECK_THROWS_AS(mini::PythonRandom(0).getrandbits(33), mini::Error);
}

TEST_CASE("each thread has a default generator of its own, with PyTorch's default seed") {
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
