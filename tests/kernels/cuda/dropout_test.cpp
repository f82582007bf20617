#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

using cuda::PhiloxState;

std::vector<uint32_t> words(int64_t n, PhiloxState state) {
    const OnDevice<uint32_t> out(std::vector<uint32_t>(static_cast<size_t>(n)));
    cuda::fill_philox(out, n, state, nullptr);
    return out.read();
}

TEST_CASE("Philox returns the words of Random123's published test vectors") {
    // Random123's test vector for a counter and a key of zeros.
    CHECK(words(4, {}) ==
          std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_CASE("Philox words at any index equal a reference implementation") {
    // Philox4x32-10 as Salmon et al. (2011) define it, with 64-bit products.
    const auto philox = [](std::array<uint32_t, 4> c, uint64_t seed) {
        auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
        for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
            const uint64_t a = uint64_t{0xd2511f53} * c[0],
                           b = uint64_t{0xcd9e8d57} * c[2];
            c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                 static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
        }
        return c;
    };
    // Random123's test vector for the digits of pi.
    REQUIRE(
        philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

    const uint64_t seed = 0x123456789abcdef0, offset = uint64_t{40} << 32 | 12;
    const auto drawn = words(1003, {.seed = seed, .offset = offset});
    for (uint32_t i = 0; i < 1003; ++i) {
        CAPTURE(i);
        const auto expected = philox({3, 10, i / 4, 0}, seed);
        REQUIRE(drawn[i] == expected[i % 4]);
    }
}

TEST_CASE("fill_bernoulli zeroes a fraction of the elements, by the Philox words") {
    const int64_t n = GENERATE(0, 1, 31, 1000, 40001);
    const double p = GENERATE(0.0, 0.75, 1.0);
    CAPTURE(n, p);
    const auto mask = unwritten_on_device(n);
    cuda::fill_bernoulli(mask, n, p, 1.0f / 0.75f, {.seed = 3}, nullptr);

    const auto kept = mask.read();
    const auto drawn = words(n, {.seed = 3});
    int64_t zeros = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
        CAPTURE(i);
        const bool keeps = p > 0 && static_cast<double>(drawn[i]) * 0x1p-32 <= p;
        REQUIRE(kept[i] == (keeps ? static_cast<float>(1.0 / 0.75) : 0.0f));
        if (!keeps) ++zeros;
    }
    // The number of zeros is within five standard deviations of its binomial
    // distribution; for p = 0 and p = 1 it is exact.
    const auto size = static_cast<double>(n);
    CHECK(std::abs(static_cast<double>(zeros) - (1.0 - p) * size) <=
          4.0 * p * (1.0 - p) + 5.0 * std::sqrt((1.0 - p) * p * size));
}

}  // namespace
}  // namespace mini::kernels
