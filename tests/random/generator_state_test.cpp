// Tests get_state and set_state of a generator.

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/random/random.hpp"
#include "tests/random/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using mini::Generator;
using mini::test::contains, mini::test::message_of, mini::test::normals;

TEST_CASE("a generator restored from a saved state gives the same numbers") {
    const int words = GENERATE(0, 1, 623, 624, 625, 1000);
    const size_t drawn = GENERATE(size_t{0}, size_t{1}, size_t{2}, size_t{17});
    CAPTURE(words, drawn);
    Generator original(uint64_t{1} << 40 | 5);
    original.set_rounding(mini::Rounding::kFused);
    for (int i = 0; i < words; ++i) original.random();
    normals(drawn, original);  // leaves a spare number if `drawn` is 1

    Generator resumed;
    normals(1, resumed);  // leaves a spare number, which set_state must drop
    resumed.set_state(original.get_state());
    CHECK(resumed.initial_seed() == original.initial_seed());
    CHECK(resumed.rounding() == mini::Rounding::kFused);
    CHECK(normals(3, resumed) == normals(3, original));
    CHECK(mini::randperm(1000, resumed) == mini::randperm(1000, original));
    CHECK(resumed.get_state() == original.get_state());
}

TEST_CASE("set_state rejects invalid states and leaves the generator unchanged") {
    Generator generator(3);
    const std::vector<uint8_t> good = generator.get_state();
    CHECK(good.size() == 2544);
    generator.random();
    const std::vector<uint8_t> before = generator.get_state();
    const auto check = [&](const std::vector<uint8_t>& bytes, const std::string& part) {
        CHECK(contains(message_of([&] { generator.set_state(bytes); }), part));
    };
    check({good.begin(), good.end() - 1}, "2544 bytes, but this one has 2543");
    check(std::vector<uint8_t>(5056), "PyTorch's own");
    std::vector<uint8_t> bad = good;
    bad[7] = '1';
    check(bad, "not of layout 2");
    for (const size_t index : {size_t{8}, size_t{40}, size_t{1000}, good.size() - 1}) {
        bad = good;
        bad[index] ^= 1;
        check(bad, "damaged");
    }
    CHECK(generator.get_state() == before);
}
