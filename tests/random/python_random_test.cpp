// Compares PythonRandom with CPython's random.Random.

#include "libmini/random/python_random.hpp"

#include <bit>
#include <limits>
#include <numeric>
#include <string>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

using mini::PythonRandom;
using mini::test::contains, mini::test::message_of;

namespace {

using Order = std::vector<int64_t>;

Order shuffled(int64_t n, int64_t seed) {
    Order values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    PythonRandom(seed).shuffle(values);
    return values;
}

// Returns random.randrange(2**64). The bound has 65 bits, so each attempt draws two words
// and one bit of a third word; attempts end when this bit is 0.
uint64_t randrange_2_64(PythonRandom& random) {
    while (true) {
        const uint64_t low = random.getrandbits(64);
        if (random.getrandbits(1) == 0) return low;
    }
}

}  // namespace

TEST_CASE("getrandbits and random equal Python's random.Random") {
    const auto cases = golden_cases("python_random");
    for (const auto& golden : cases) {
        const auto seed = golden.at("seed").get<int64_t>();
        CAPTURE(seed);
        PythonRandom bits(seed);
        for (const uint64_t expected : golden.at("getrandbits32"))
            CHECK(bits.getrandbits(32) == expected);

        const auto& floats = golden.at("random_u64_hex");
        PythonRandom random(seed);
        for (size_t i = 0; i < floats.size(); ++i) {
            const double value = random.random();
            const std::string text = floats[i], shown = golden.at("random_repr")[i];
            CHECK(std::bit_cast<uint64_t>(value) == std::stoull(text, nullptr, 16));
            CHECK(value == std::stod(shown));
        }
        CHECK(floats.size() == 8);
    }
    CHECK(cases.size() == 5);
}

TEST_CASE("randrange equals Python's random.randrange for bounds up to 2^64") {
    const std::vector<uint64_t> bounds = {
        1, 2, 3, 5, 10, 100, 1000, 60000, uint64_t{1} << 31, uint64_t{1} << 33};
    const auto cases = golden_cases("python_random");
    for (const auto& golden : cases) {
        CAPTURE(golden.at("seed").get<int64_t>());
        const auto expected = golden.at("randrange").get<std::vector<std::string>>();
        REQUIRE(expected.size() == bounds.size() + 1);
        PythonRandom random(golden.at("seed").get<int64_t>());
        for (size_t i = 0; i < bounds.size(); ++i)
            CHECK(std::to_string(random.randrange(bounds[i])) == expected[i]);
        CHECK(std::to_string(randrange_2_64(random)) == expected.back());
    }
    CHECK(cases.size() == 5);
}

TEST_CASE("shuffle equals Python's random.shuffle") {
    const auto cases = golden_cases("python_shuffle");
    for (const auto& golden : cases) {
        CAPTURE(golden.at("seed").get<int64_t>(), golden.at("n").get<int>());
        CHECK(digest(shuffled(golden.at("n"), golden.at("seed"))) ==
              golden.at("shuffled").at("sha256_le_int64").get<std::string>());
    }
    CHECK(cases.size() >= 15);
}

TEST_CASE("shuffle takes the absolute value of a seed") {
    CHECK(shuffled(10, -42) == shuffled(10, 42));
    CHECK(shuffled(10, int64_t{1} << 32) != shuffled(10, 0));

    // CPython 3.11: random.Random(-2**63).shuffle(list(range(10)))
    CHECK(shuffled(10, std::numeric_limits<int64_t>::min()) ==
          Order{5, 7, 9, 2, 0, 4, 1, 3, 6, 8});
}

TEST_CASE(
    "getrandbits uses the high bits of a word and above 32 bits also of a second word") {
    // CPython 3.11: random.Random(0).getrandbits(bits), for bits 32, 1, 8, 33, 40 and 64
    CHECK(PythonRandom(0).getrandbits(32) == 3626764237u);
    CHECK(PythonRandom(0).getrandbits(1) == 1u);
    CHECK(PythonRandom(0).getrandbits(8) == 216u);
    CHECK(PythonRandom(0).getrandbits(33) == 3626764237u);
    CHECK(PythonRandom(0).getrandbits(40) == 424533559245u);
    CHECK(PythonRandom(0).getrandbits(64) == 7106521602475165645u);
}

TEST_CASE("a number of bits outside 1 to 64 and a bound below 1 throw Error") {
    PythonRandom random(0);
    for (const int bits : {0, 65, -1})
        CHECK(contains(message_of([&] { random.getrandbits(bits); }),
                       "getrandbits: " + std::to_string(bits)));
    for (const int64_t bound : {int64_t{0}, int64_t{-5}})
        CHECK(contains(message_of([&] { random.randrange(bound); }),
                       "bound is " + std::to_string(bound)));
    CHECK(random.getrandbits(32) == PythonRandom(0).getrandbits(32));
}
