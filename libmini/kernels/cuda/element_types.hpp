// The element types in device code. The 16-bit floats have the bits and the rounding of
// core/half.hpp; arithmetic is in float.
//
// Included only by .cu files.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "libmini/kernels/cuda/elements.hpp"

namespace mini::kernels::cuda {

/// float16 and bfloat16 as they are stored.
struct HalfBits {
    uint16_t bits;
};
struct BFloat16Bits {
    uint16_t bits;
};

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, HalfBits> || std::is_same_v<T, BFloat16Bits>;

/// The type used to compute with elements of type T.
template <typename T>
using Wide = std::conditional_t<kIsHalf<T>, float, T>;

__device__ inline uint32_t bits_of(float value) {
    return static_cast<uint32_t>(__float_as_int(value));
}
__device__ inline float float_of(uint32_t bits) {
    return __int_as_float(static_cast<int>(bits));
}

/// Returns the value of an element.
template <typename T>
__device__ T widen(T value) {
    return value;
}
__device__ inline float widen(HalfBits value) {
    const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
    const uint32_t rest = static_cast<uint32_t>(value.bits & 0x7fff) << 13;
    // Rebias the exponent with a multiplication, which is correct for subnormals too.
    const float scaled = float_of(rest) * 0x1p112f;
    const uint32_t special = rest >= 0x0f800000u ? 0x7f800000u : 0;  // inf or nan
    return float_of(sign | special | bits_of(scaled));
}
__device__ inline float widen(BFloat16Bits value) {
    return float_of(static_cast<uint32_t>(value.bits) << 16);
}

__device__ inline HalfBits round_to_half(float value) {
    const uint32_t word = bits_of(value);
    const uint32_t sign = word >> 16 & 0x8000, size = word & 0x7fffffff;
    uint32_t rest;
    if (size > 0x7f800000) {  // nan
        rest = 0x7e00 | (size >> 13 & 0x3ff);
    } else if (size >= 0x477ff000) {  // 65520: half a step above the maximum
        rest = 0x7c00;
    } else if (size < 0x38800000) {  // below 2^-14, the smallest normal number
        // Add 0.5: its last mantissa bit has the weight of a subnormal's last bit, so the
        // processor rounds the sum at that bit.
        rest = bits_of(float_of(size) + 0.5f) - 0x3f000000;
    } else {
        rest = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
    }
    return {static_cast<uint16_t>(sign | rest)};
}

__device__ inline BFloat16Bits round_to_bfloat16(float value) {
    const uint32_t word = bits_of(value);
    if (value != value) return {static_cast<uint16_t>(word >> 16 | 0x40)};  // quiet nan
    return {static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16)};
}

/// Returns a float as an integer, by the CPU's rule (tensor/ops.cpp): rounded toward zero,
/// and the least int64 for what does not fit, where a GPU would give the nearest
/// int64.
template <typename Value>
__device__ int64_t to_integer(Value value) {
    const bool fits =
        value >= static_cast<Value>(-0x1p63) && value < static_cast<Value>(0x1p63);
    return fits ? static_cast<int64_t>(value) : INT64_MIN;
}

/// Returns the element of type T nearest to a value of any arithmetic type.
template <typename T, typename Value>
__device__ T narrow(Value value) {
    if constexpr (std::is_same_v<T, HalfBits>)
        return round_to_half(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, BFloat16Bits>)
        return round_to_bfloat16(static_cast<float>(value));
    else if constexpr (std::is_integral_v<T> && !std::is_integral_v<Value>)
        return static_cast<T>(to_integer(value));  // uint8: -1.0f becomes 255
    else
        return static_cast<T>(value);
}

/// Calls body(element) with an element of type `type`, so that a generic lambda gets the
/// C++ type. Host only.
template <typename Body>
void with_type(ElementType type, const Body& body) {
    switch (type) {
        case ElementType::kFloat32: return body(float{});
        case ElementType::kInt64: return body(int64_t{});
        case ElementType::kUInt8: return body(uint8_t{});
        case ElementType::kFloat16: return body(HalfBits{});
        case ElementType::kBFloat16: return body(BFloat16Bits{});
    }
}

}  // namespace mini::kernels::cuda
