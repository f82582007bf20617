#include "libmini/core/half.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

using mini::BFloat16;
using mini::Half;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns the value of a float16 bit pattern, by the definition of the format.
float value_of_half(uint32_t bits) {
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const auto fraction = static_cast<float>(bits & 0x3ff);
    if (exponent == 31) return fraction == 0 ? sign * kInfinity : std::nanf("");
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

TEST_CASE("every float16 converts to its defined value and back to the same bits") {
    int wrong = 0;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const Half half = Half::from_bits(static_cast<uint16_t>(bits));
        const float value = static_cast<float>(half), expected = value_of_half(bits);
        if (std::isnan(expected)) {
            wrong += !std::isnan(value) || !std::isnan(static_cast<float>(Half(value)));
        } else {
            wrong += value != expected || std::signbit(value) != std::signbit(expected) ||
                     Half(value).bits() != bits;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("rounding to float16 is to nearest with ties to even") {
    int wrong = 0;
    for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
        const float low = value_of_half(bits), high = value_of_half(bits + 1);
        const float middle = low + (high - low) / 2;  // exact: 12 significant bits
        const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
        wrong += Half(middle).bits() != even;
        wrong += Half(std::nextafter(middle, -kInfinity)).bits() != bits;
        wrong += Half(std::nextafter(middle, kInfinity)).bits() != bits + 1;
        wrong += Half(-middle).bits() != (even | 0x8000);
    }
    CHECK(wrong == 0);
}

TEST_CASE("values at least half a step above the maximum float16 become infinity") {
    CHECK(Half(65504.0f).bits() == 0x7bff);
    CHECK(Half(65519.99f).bits() == 0x7bff);
    CHECK(Half(65520.0f).bits() == 0x7c00);
    CHECK(Half(-kInfinity).bits() == 0xfc00);
    CHECK(Half(std::numeric_limits<float>::max()).bits() == 0x7c00);
}

TEST_CASE("bfloat16 is the upper half of a float32 rounded to nearest even") {
    CHECK(BFloat16(1.0f).bits() == 0x3f80);
    CHECK(static_cast<float>(BFloat16::from_bits(0xc049)) == -3.140625f);
    CHECK(BFloat16(std::bit_cast<float>(0x3f808000u)).bits() == 0x3f80);  // a tie
    CHECK(BFloat16(std::bit_cast<float>(0x3f818000u)).bits() == 0x3f82);  // a tie
    CHECK(BFloat16(std::bit_cast<float>(0x3f808001u)).bits() == 0x3f81);
    CHECK(BFloat16(std::numeric_limits<float>::max()).bits() == 0x7f80);
    CHECK(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
    CHECK(BFloat16(-0.0f).bits() == 0x8000);
}
