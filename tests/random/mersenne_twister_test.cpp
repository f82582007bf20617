#include "libmini/random/mersenne_twister.hpp"

#include <random>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"

using mini::MersenneTwister;

TEST_CASE("a one-word seed gives the words of std::mt19937") {
    const uint32_t seed = GENERATE(0u, 1u, 1234u, 5489u, 0x7fffffffu, 0xffffffffu);
    MersenneTwister ours(seed);
    std::mt19937 theirs(seed);
    bool equal = true;
    for (int i = 0; i < 5000; ++i) equal = equal && ours.next() == theirs();
    CAPTURE(seed);
    CHECK(equal);
}

TEST_CASE("the 10000th word of the default seed equals the C++ standard's value") {
    MersenneTwister twister;
    for (int i = 1; i < 10000; ++i) twister.next();
    CHECK(twister.next() == 4123659995u);
}

TEST_CASE("a key gives the words that the authors of the Mersenne Twister published") {
    // The first words of mt19937ar.out: init_by_array({0x123, 0x234, 0x345, 0x456}).
    const std::vector<uint32_t> key = {0x123, 0x234, 0x345, 0x456};
    MersenneTwister twister(key);
    const std::vector<uint32_t> expected = {1067595299u, 955945823u,  477289528u,
                                            4107218783u, 4228976476u, 3344332714u};
    for (const uint32_t word : expected) CHECK(twister.next() == word);
}

TEST_CASE("the last word of a key longer than the state changes the result") {
    std::vector<uint32_t> key(700, 7);
    MersenneTwister plain(key);
    key.back() = 8;
    MersenneTwister changed(key);
    CHECK(plain.next() != changed.next());
}

TEST_CASE("an empty key throws Error") {
    CHECK_THROWS_AS(MersenneTwister(std::span<const uint32_t>()), mini::Error);
}
