// The checks of lab 07's bonus: Python's shuffle, from random bits.

#include <cstdint>
#include <set>
#include <vector>

#include "labs/07-partition/python_shuffle.hpp"
#include "labs/numbered.hpp"
#include "tests/support/catch.hpp"

using mini::PythonRandom, mini::labs::python_shuffle;
using mini::labs::Indices, mini::labs::all_of, mini::labs::sorted;

namespace {

Indices shuffled(int64_t n, int64_t seed) {
    PythonRandom random(seed);
    Indices values = all_of(n);
    python_shuffle(values, random);
    return values;
}

}  // namespace

TEST_CASE("every order is a possible result of the shuffle", "[lab07][lab07.6]") {
    std::set<Indices> orders;
    for (int64_t seed = 0; seed < 200; ++seed) {
        const Indices values = shuffled(3, seed);
        REQUIRE(sorted(values) == all_of(3));
        orders.insert(values);
    }
    INFO("200 seeds, 3 values: all 6 orders should occur, also the orders in which a");
    INFO("value stays at its place");
    CHECK(orders.size() == 6);
}

TEST_CASE("the orders are those of Python", "[lab07][lab07.6]") {
    INFO("list(range(2)), and list(range(4)), after random.Random(1234).shuffle");
    CHECK(shuffled(2, 1234) == Indices{0, 1});
    CHECK(shuffled(4, 1234) == Indices{1, 2, 0, 3});
    INFO("list(range(10)) after random.Random(seed).shuffle");
    CHECK(shuffled(10, 1234) == Indices{2, 8, 3, 5, 6, 4, 9, 0, 1, 7});
    CHECK(shuffled(10, 0) == Indices{7, 8, 1, 5, 3, 4, 2, 0, 9, 6});
    CHECK(shuffled(10, 42) == Indices{7, 3, 2, 8, 5, 6, 9, 4, 0, 1});
    Indices library = all_of(1000);
    PythonRandom(7).shuffle(library);
    CHECK(shuffled(1000, 7) == library);
}

TEST_CASE("other values than 0, 1, 2, ... are moved in the same way",
          "[lab07][lab07.6]") {
    PythonRandom random(1234);
    Indices values = {50, 50, -7, 9, 1};
    Indices library = values;
    python_shuffle(values, random);
    PythonRandom(1234).shuffle(library);
    CHECK(values == library);
}

TEST_CASE("shuffling draws as many words as Python, and none for one value",
          "[lab07][lab07.6]") {
    for (const int64_t n : {0, 1, 2, 16, 100}) {
        PythonRandom mine(1234), library(1234);
        Indices values = all_of(n), others = all_of(n);
        python_shuffle(values, mine);
        library.shuffle(others);
        INFO(n << " values: the first draw after the shuffle");
        CHECK(mine.getrandbits(8) == library.getrandbits(8));
    }
}
