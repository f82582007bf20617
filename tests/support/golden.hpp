// PyTorch's and Python's own numbers, from tests/golden.

#pragma once

#include <nlohmann/json.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The cases of golden/<name>.json.
nlohmann::json golden_cases(const std::string& name);

/// SHA-256 in hexadecimal.
std::string sha256(std::span<const std::byte> bytes);

/// SHA-256 of the values as they lie in memory.
template <typename T>
std::string digest(const std::vector<T>& values) {
    static_assert(std::endian::native == std::endian::little,
                  "golden digests are of such");
    return sha256(std::as_bytes(std::span(values)));
}

/// Floats stored as the hexadecimal digits of their bits.
std::vector<float> floats_from_hex(const nlohmann::json& strings);

/// The distance of two floats of one sign, counted in representable floats.
inline int64_t ulps_between(float a, float b) {
    const int64_t distance =
        int64_t{std::bit_cast<int32_t>(a)} - int64_t{std::bit_cast<int32_t>(b)};
    return distance < 0 ? -distance : distance;
}
