// bfloat16 on the simulator: a float of 16 bits with the exponent of float32.

#pragma once

#include <bit>
#include <cstdint>

struct __nv_bfloat16 {
    uint16_t bits;
};

/// Rounds to nearest, ties to even; a NaN stays a NaN.
inline __nv_bfloat16 __float2bfloat16(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    if (x != x) return {0x7fff};
    const uint32_t tie = 0x7fff + (bits >> 16 & 1);
    return {static_cast<uint16_t>((bits + tie) >> 16)};
}

inline float __bfloat162float(__nv_bfloat16 x) {
    return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}
