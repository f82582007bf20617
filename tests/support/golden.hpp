// Reference results of PyTorch and Python, from tests/golden.

#pragma once

#include <nlohmann/json.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Returns the cases of tests/golden/<name>.json. Throws std::runtime_error if there is
/// no such file.
nlohmann::json golden_cases(const std::string& name);

/// Returns the SHA-256 of `bytes` in hexadecimal.
std::string sha256(std::span<const std::byte> bytes);

/// Returns the SHA-256 of the bytes of all values, in hexadecimal.
template <typename T>
std::string digest(const std::vector<T>& values) {
    static_assert(std::endian::native == std::endian::little,
                  "golden digests are of little-endian values");
    return sha256(std::as_bytes(std::span(values)));
}

/// Returns floats from strings with the hexadecimal digits of their bits.
std::vector<float> floats_from_hex(const nlohmann::json& strings);
