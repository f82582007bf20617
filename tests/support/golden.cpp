#include "tests/support/golden.hpp"

#include <openssl/sha.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

nlohmann::json golden_cases(const std::string& name) {
    std::ifstream file(std::string(MINI_GOLDEN_DIR) + "/" + name + ".json");
    if (!file) throw std::runtime_error("no golden file " + name + ".json");
    return nlohmann::json::parse(file).at("cases");
}

std::vector<float> floats_from_hex(const nlohmann::json& strings) {
    std::vector<float> values;
    for (const std::string text : strings)
        values.push_back(
            std::bit_cast<float>(static_cast<uint32_t>(std::stoul(text, nullptr, 16))));
    return values;
}

std::string sha256(std::span<const std::byte> bytes) {
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash);
    std::string hex;
    for (const unsigned char byte : hash) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        hex += digits;
    }
    return hex;
}
