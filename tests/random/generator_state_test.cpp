// The whole state of a generator as bytes: saved, taken up again, refused.

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/random/random.hpp"
#include "tests/random/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::Generator;
using mini::test::normals;

TEST_CASE("a generator goes on from a saved state as if it had not stopped") {
    const int words = GENERATE(0, 1, 623, 624, 625, 1000);
    const size_t drawn = GENERATE(size_t{0}, size_t{1}, size_t{2}, size_t{17});
    CAPTURE(words, drawn);
    Generator straight(uint64_t{1} << 40 | 5);
    straight.set_rounding(mini::Rounding::kFused);
    straight.set_version({1, 13});
    for (int i = 0; i < words; ++i) straight.random();
    normals(drawn, straight);  // an odd number below 16 leaves a spare one

    Generator resumed;
    normals(1, resumed);  // a spare one that must go
    resumed.set_state(straight.get_state());
    CHECK(resumed.initial_seed() == straight.initial_seed());
    CHECK(resumed.rounding() == mini::Rounding::kFused);
    CHECK(resumed.version() == mini::TorchVersion{1, 13});
    CHECK(normals(3, resumed) == normals(3, straight));
    CHECK(mini::randperm(1000, resumed) == mini::randperm(1000, straight));
    CHECK(resumed.get_state() == straight.get_state());
}

TEST_CASE(
    "a state that is cut or damaged or of another layout is refused and not taken") {
    Generator generator(3);
    const std::vector<uint8_t> good = generator.get_state();
    CHECK(good.size() == 2552);
    generator.random();
    const std::vector<uint8_t> before = generator.get_state();
    const auto refusal = [&](const std::vector<uint8_t>& bytes) {
        return mini::test::message_of([&] { generator.set_state(bytes); });
    };
    std::vector<uint8_t> bad = good;
    bad.pop_back();
    CHECK(refusal(bad).find("2552 bytes, but this one 2551") != std::string::npos);
    CHECK(refusal(std::vector<uint8_t>(5056)).find("PyTorch's own") != std::string::npos);
    bad = good;
    bad[7] = '2';
    CHECK(refusal(bad).find("not of layout 1") != std::string::npos);
    for (const size_t place : {size_t{8}, size_t{40}, size_t{1000}, good.size() - 1}) {
        bad = good;
        bad[place] ^= 1;
        CHECK(refusal(bad).find("damaged") != std::string::npos);
    }
    CHECK(generator.get_state() == before);
}
