// The element types of tensors.

#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>

namespace mini {

enum class DType : uint8_t { kFloat32, kInt64, kUInt8 };

/// Bytes of one element.
constexpr size_t item_size(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return 4;
        case DType::kInt64: return 8;
        case DType::kUInt8: return 1;
    }
    return 0;
}

/// PyTorch's name: "float32", "int64", "uint8".
constexpr const char* dtype_name(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return "float32";
        case DType::kInt64: return "int64";
        case DType::kUInt8: return "uint8";
    }
    return "unknown";
}

inline std::ostream& operator<<(std::ostream& out, DType dtype) {
    return out << dtype_name(dtype);
}

/// The DType of a C++ element type.
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

}  // namespace mini
