// The two 16-bit floating-point types: float16 (IEEE binary16) and bfloat16 (the upper
// 16 bits of a float32).
//
//     float32     s eeeeeeee mmmmmmmmmmmmmmmmmmmmmmm     range 3e38, 7 digits
//     bfloat16    s eeeeeeee mmmmmmm                     range 3e38, 2 to 3 digits
//     float16     s eeeee mmmmmmmmmm                     range 65504, 3 to 4 digits
//
// Both types are for storage and communication; arithmetic converts to float32. The
// conversion from float32 rounds to nearest, ties to even, like the hardware and PyTorch.
// The functions are constexpr, so that kernels on a GPU can call them too.

#pragma once

#include <bit>
#include <cstdint>

namespace mini {

/// float16.
class Half {
  public:
    constexpr Half() = default;
    constexpr explicit Half(float value) : bits_(round(value)) {}
    /// Returns the float16 with this bit pattern.
    static constexpr Half from_bits(uint16_t bits);

    constexpr uint16_t bits() const { return bits_; }

    constexpr explicit operator float() const {
        const uint32_t sign = static_cast<uint32_t>(bits_ & 0x8000) << 16;
        const uint32_t rest = static_cast<uint32_t>(bits_ & 0x7fff) << 13;
        // Rebias the exponent with a multiplication, which is correct for subnormals too.
        const float scaled = std::bit_cast<float>(rest) * 0x1p112f;
        const uint32_t special = rest >= 0x0f800000u ? 0x7f800000u : 0;  // inf or nan
        return std::bit_cast<float>(sign | special | std::bit_cast<uint32_t>(scaled));
    }

    bool operator==(const Half&) const = default;

  private:
    static constexpr uint16_t round(float value);

    uint16_t bits_ = 0;
};

/// bfloat16.
class BFloat16 {
  public:
    constexpr BFloat16() = default;
    constexpr explicit BFloat16(float value) : bits_(round(value)) {}
    /// Returns the bfloat16 with this bit pattern.
    static constexpr BFloat16 from_bits(uint16_t bits);

    constexpr uint16_t bits() const { return bits_; }

    constexpr explicit operator float() const {
        return std::bit_cast<float>(static_cast<uint32_t>(bits_) << 16);
    }

    bool operator==(const BFloat16&) const = default;

  private:
    static constexpr uint16_t round(float value) {
        const uint32_t word = std::bit_cast<uint32_t>(value);
        if (value != value) return static_cast<uint16_t>(word >> 16 | 0x40);  // quiet nan
        return static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
    }

    uint16_t bits_ = 0;
};

constexpr Half Half::from_bits(uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
}

constexpr BFloat16 BFloat16::from_bits(uint16_t bits) {
    BFloat16 half;
    half.bits_ = bits;
    return half;
}

constexpr uint16_t Half::round(float value) {
    constexpr uint32_t kInfinity = 0x7f800000;
    constexpr uint32_t kOverflow = 0x477ff000;  // 65520: half a step above the maximum
    constexpr uint32_t kSmallest = 0x38800000;  // 2^-14: the smallest normal number
    const uint32_t word = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(word >> 16 & 0x8000);
    const uint32_t size = word & 0x7fffffff;
    if (size > kInfinity)
        return static_cast<uint16_t>(sign | 0x7e00 | (size >> 13 & 0x3ff));
    if (size >= kOverflow) return static_cast<uint16_t>(sign | 0x7c00);
    if (size < kSmallest) {
        // Add 0.5: its last mantissa bit has the weight of a subnormal's last bit, so the
        // processor rounds the sum at that bit.
        const float shifted = std::bit_cast<float>(size) + 0.5f;
        return static_cast<uint16_t>(sign |
                                     (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
    }
    const uint32_t rounded = size + 0xfff + (size >> 13 & 1);
    return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

}  // namespace mini
