// Reference results of PyTorch and Python, from tests/golden.

#pragma once

#include <nlohmann/json.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Returns the cases of golden/<name>.json.
nlohmann::json golden_cases(const std::string& name);

/// Returns the SHA-256 in hexadecimal.
std::string sha256(std::span<const std::byte> bytes);

/// Returns the SHA-256 of the values' bytes in memory.
template <typename T>
std::string digest(const std::vector<T>& values) {
    static_assert(std::endian::native == std::endian::little,
                  "golden digests are of little-endian values");
    return sha256(std::as_bytes(std::span(values)));
}

/// Parses floats stored as the hexadecimal digits of their bits.
std::vector<float> floats_from_hex(const nlohmann::json& strings);

/// Returns the distance of two floats of the same sign in ulps (representable floats).
inline int64_t ulps_between(float a, float b) {
    const int64_t distance =
        int64_t{std::bit_cast<int32_t>(a)} - int64_t{std::bit_cast<int32_t>(b)};
    return distance < 0 ? -distance : distance;
}
