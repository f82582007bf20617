// The element types of tensors.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "libmini/core/half.hpp"

namespace mini {

/// The element type of a tensor (`torch.dtype`). Tensors of float16 and bfloat16 can be
/// converted, copied and communicated; arithmetic does not support them.
enum class DType : uint8_t { kFloat32, kInt64, kUInt8, kFloat16, kBFloat16 };

/// Returns the size of one element in bytes.
constexpr size_t item_size(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return 4;
        case DType::kInt64: return 8;
        case DType::kUInt8: return 1;
        case DType::kFloat16: return 2;
        case DType::kBFloat16: return 2;
    }
    return 0;
}

/// Returns whether a dtype is float32, float16 or bfloat16
/// (`torch.dtype.is_floating_point`).
constexpr bool is_floating_point(DType dtype) {
    return dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
           dtype == DType::kBFloat16;
}

/// Returns PyTorch's name of a dtype: "float32", "int64", ...
constexpr const char* dtype_name(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return "float32";
        case DType::kInt64: return "int64";
        case DType::kUInt8: return "uint8";
        case DType::kFloat16: return "float16";
        case DType::kBFloat16: return "bfloat16";
    }
    return "unknown";
}

/// Prints the dtype's name.
inline std::ostream& operator<<(std::ostream& out, DType dtype) {
    return out << dtype_name(dtype);
}

/// The C++ types of tensor elements.
template <typename T>
concept Element = std::same_as<T, float> || std::same_as<T, int64_t> ||
    std::same_as<T, uint8_t> || std::same_as<T, Half> || std::same_as<T, BFloat16>;

/// Returns the DType of a C++ element type.
template <typename T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
    return DType::kFloat32;
}
template <>
constexpr DType dtype_of<int64_t>() {
    return DType::kInt64;
}
template <>
constexpr DType dtype_of<uint8_t>() {
    return DType::kUInt8;
}
template <>
constexpr DType dtype_of<Half>() {
    return DType::kFloat16;
}
template <>
constexpr DType dtype_of<BFloat16>() {
    return DType::kBFloat16;
}

/// The type in which elements of type T are computed (`at::opmath_type`): float32 for the
/// 16-bit floats.
template <typename T>
using OpMath =
    std::conditional_t<std::same_as<T, Half> || std::same_as<T, BFloat16>, float, T>;

/// Converts a number to another type, as PyTorch does on x86, on the CPU and in kernels.
/// Conversions from and to 16-bit floats go through float32. A float becomes an integer by
/// rounding toward zero to int64, of which uint8 keeps the low byte; a value outside int64,
/// which C++ leaves undefined, becomes the least int64.
template <typename To, typename From>
constexpr To convert_element(From value) {
    const auto wide = static_cast<OpMath<From>>(value);
    if constexpr (std::is_floating_point_v<OpMath<From>> && std::is_integral_v<To>) {
        const bool fits = wide >= static_cast<OpMath<From>>(-0x1p63) &&
                          wide < static_cast<OpMath<From>>(0x1p63);
        return static_cast<To>(fits ? static_cast<int64_t>(wide) : INT64_MIN);
    } else {
        return static_cast<To>(static_cast<OpMath<To>>(wide));
    }
}

/// Calls body(element) with an element of the C++ type of `dtype`, so that a generic
/// lambda gets the type:
///
///     with_element(dtype, [&]<Element T>(T) { ... });
template <typename Body>
void with_element(DType dtype, const Body& body) {
    switch (dtype) {
        case DType::kFloat32: return body(float{});
        case DType::kInt64: return body(int64_t{});
        case DType::kUInt8: return body(uint8_t{});
        case DType::kFloat16: return body(Half{});
        case DType::kBFloat16: return body(BFloat16{});
    }
}

}  // namespace mini
