// PyTorch's and Python's own numbers, from tests/golden.

#pragma once

#include <openssl/sha.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// The cases of golden/<name>.json.
inline nlohmann::json golden_cases(const std::string& name) {
    std::ifstream file(std::string(MINI_GOLDEN_DIR) + "/" + name + ".json");
    if (!file) throw std::runtime_error("no golden file " + name + ".json");
    return nlohmann::json::parse(file).at("cases");
}

/// SHA-256 of the values as they lie in memory, in hexadecimal.
template <typename T>
std::string digest(const std::vector<T>& values) {
    static_assert(std::endian::native == std::endian::little,
                  "golden digests are of such");
    unsigned char bytes[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(values.data()),
           values.size() * sizeof(T), bytes);
    std::string hex;
    for (const unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        hex += digits;
    }
    return hex;
}

/// Floats stored as the hexadecimal digits of their bits.
inline std::vector<float> floats_from_hex(const nlohmann::json& strings) {
    std::vector<float> values;
    for (const std::string text : strings)
        values.push_back(
            std::bit_cast<float>(static_cast<uint32_t>(std::stoul(text, nullptr, 16))));
    return values;
}

/// The distance of two floats of one sign, counted in representable floats.
inline int64_t ulps_between(float a, float b) {
    const int64_t distance =
        int64_t{std::bit_cast<int32_t>(a)} - int64_t{std::bit_cast<int32_t>(b)};
    return distance < 0 ? -distance : distance;
}
