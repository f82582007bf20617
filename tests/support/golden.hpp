// Golden numbers: PyTorch's and Python's outputs, as JSON under tests/golden.

#pragma once

#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace mini::test {

/// The contents of tests/golden/<name>.
inline nlohmann::json golden(const std::string& name) {
    std::ifstream file(std::string(MINI_GOLDEN_DIR) + "/" + name);
    if (!file) throw std::runtime_error("cannot read golden numbers: " + name);
    return nlohmann::json::parse(file);
}

/// The floats whose IEEE bits are written in hexadecimal.
inline std::vector<float> floats_from_hex(const nlohmann::json& list) {
    std::vector<float> values;
    for (const std::string hex : list)
        values.push_back(
            std::bit_cast<float>(static_cast<uint32_t>(std::stoul(hex, nullptr, 16))));
    return values;
}

}  // namespace mini::test
