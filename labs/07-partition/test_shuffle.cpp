// The checks of lab 07's generator: bits, numbers below a bound, and Python's shuffle.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "labs/numbered.hpp"
#include "libmini/random/python_random.hpp"
#include "tests/support/catch.hpp"

using mini::PythonRandom;
using mini::labs::Indices, mini::labs::all_of, mini::labs::sorted;

TEST_CASE("getrandbits gives the high bits of a word", "[lab07][lab07.2]") {
    INFO("seed 1234: the first word is 4150886329, 11110111 01101001 ... in bits;");
    INFO("8 bits of it are the high ones, 11110111 = 247; hint 1 of 07.2");
    PythonRandom random(1234);
    CHECK(random.getrandbits(8) == 247);
    CHECK(random.getrandbits(8) == 199);
    CHECK(random.getrandbits(8) == 112);
    CHECK(PythonRandom(1234).getrandbits(32) == 4150886329u);
}

TEST_CASE("randrange draws again when the bits are not below the bound",
          "[lab07][lab07.2]") {
    INFO("seed 1234, bound 10, which has 4 bits: the words give 15 12 7 1 0 1 14 15 15");
    INFO("12 9 ..., of which 15 12 14 15 15 12 are not below 10; hint 2 of 07.2");
    PythonRandom random(1234);
    Indices drawn;
    for (int k = 0; k < 10; ++k) drawn.push_back(random.randrange(int64_t{10}));
    CHECK(drawn == Indices{7, 1, 0, 1, 9, 0, 1, 1, 5, 3});
}

TEST_CASE("randrange of a power of two draws as many bits as the bound itself has",
          "[lab07][lab07.2]") {
    INFO(
        "16 is 10000 in binary, 5 bits: half of the draws are 16 or more, and are "
        "rejected");
    PythonRandom random(1234);
    Indices drawn;
    for (int k = 0; k < 10; ++k) drawn.push_back(random.randrange(int64_t{16}));
    CHECK(drawn == Indices{14, 3, 0, 2, 1, 2, 3, 11, 7, 0});
}

TEST_CASE("randrange favours no number even with a bound of 63 bits",
          "[lab07][lab07.2]") {
    // On average a third of the draws, 2000 of 6000, are below 2^61. A standard deviation
    // is 36.5 draws, and 5 of them are 183.
    INFO("bound 3 * 2^61: a third of the draws should be below 2^61; remainders of 64");
    INFO("bits would put 3 of 8 there; hint 2 of 07.2");
    PythonRandom random(7);
    const uint64_t third = uint64_t{1} << 61;
    int low = 0;
    for (int k = 0; k < 6000; ++k) low += random.randrange(3 * third) < third;
    CHECK(low > 2000 - 183);
    CHECK(low < 2000 + 183);
}

TEST_CASE("shuffle gives Python's order", "[lab07][lab07.3]") {
    INFO("list(range(10)) after random.Random(seed).shuffle; hint 1 of 07.3");
    const auto shuffled = [](int64_t seed) {
        Indices values = all_of(10);
        PythonRandom(seed).shuffle(values);
        return values;
    };
    CHECK(shuffled(1234) == Indices{2, 8, 3, 5, 6, 4, 9, 0, 1, 7});
    CHECK(shuffled(0) == Indices{7, 8, 1, 5, 3, 4, 2, 0, 9, 6});
    CHECK(shuffled(42) == Indices{7, 3, 2, 8, 5, 6, 9, 4, 0, 1});
}

TEST_CASE("shuffle moves values of any type to the same positions", "[lab07][lab07.3]") {
    std::vector<std::string> words = {"a", "b", "c", "d", "e"};
    PythonRandom(1234).shuffle(words);
    CHECK(words == std::vector<std::string>{"b", "c", "e", "a", "d"});
}

TEST_CASE("every order is a possible result of shuffle", "[lab07][lab07.3]") {
    std::set<Indices> orders;
    for (int64_t seed = 0; seed < 200; ++seed) {
        Indices values = all_of(3);
        PythonRandom(seed).shuffle(values);
        REQUIRE(sorted(values) == all_of(3));
        orders.insert(values);
    }
    INFO("200 seeds, 3 values: all 6 orders should occur, also the orders in which a");
    INFO("value stays at its position; hint 2 of 07.3");
    CHECK(orders.size() == 6);
}

TEST_CASE("shuffling an empty list or one value draws no random number",
          "[lab07][lab07.3]") {
    for (const int64_t n : {0, 1}) {
        CAPTURE(n);
        PythonRandom random(1234);
        Indices values = all_of(n);
        random.shuffle(values);
        CHECK(values == all_of(n));
        INFO("the next number must be the generator's first");
        CHECK(random.getrandbits(8) == 247);
    }
}
