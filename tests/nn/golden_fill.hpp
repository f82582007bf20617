// The pseudo-random numbers of tests/golden/make_resnet.py, from a hash function.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::test {

/// Returns number i of tensor k: a pseudo-random number in [-1, 1).
inline double noise(uint64_t k, uint64_t i) {
    auto word = static_cast<uint32_t>(40503 * k + i);
    word = (word ^ (word >> 16)) * 0x85ebca6bu;
    word = (word ^ (word >> 13)) * 0xc2b2ae35u;
    word ^= word >> 16;
    return static_cast<double>(word) / 2147483648.0 - 1.0;
}

/// Returns a tensor whose element i is scale * noise(k, i) + shift.
inline Tensor noise_tensor(uint64_t k, const Shape& shape, double scale = 1.0,
                           double shift = 0.0) {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(noise(k, i) * scale + shift);
    return Tensor::from(values, shape);
}

/// Fills the parameters of a module with noise. k is a parameter's index in the
/// state_dict, where buffers count too.
inline void fill(nn::Module& module) {
    std::vector<std::string> trained;
    for (const auto& [name, parameter] : module.named_parameters())
        trained.push_back(name);
    uint64_t k = 0;
    nn::NamedTensors state = module.state_dict();
    for (auto& [name, tensor] : state) {
        const uint64_t index = k++;
        if (std::ranges::find(trained, name) == trained.end()) continue;
        const Shape& shape = tensor.shape();
        const auto fan_in = static_cast<double>(tensor.numel()) /
                            static_cast<double>(shape.empty() ? 1 : shape[0]);
        const bool is_matrix = shape.size() > 1;
        const bool ends_block =
            name.ends_with("bn2.weight") || name.ends_with("bn3.weight");
        const double part = ends_block ? 0.0625 : 1.0;
        const double scale = is_matrix ? std::sqrt(6.0 / fan_in) : 0.25;
        const double shift = !is_matrix && name.ends_with("weight") ? 1.0 : 0.0;
        ops::copy_(tensor, noise_tensor(index, shape, part * scale, part * shift));
    }
}

/// Returns the maximum absolute difference between x and `expected`, divided by the
/// largest absolute number in `expected` if that exceeds 1. Returns infinity if the sizes
/// differ or a number is NaN.
inline double distance(const Tensor& x, const nlohmann::json& expected) {
    const Tensor floats = ops::to(x, DType::kFloat32);
    const auto values = floats.to_vector<float>();
    const auto wanted = expected.get<std::vector<double>>();
    if (values.size() != wanted.size()) return HUGE_VAL;
    double largest = 0.0, scale = 1.0;
    for (size_t i = 0; i < values.size(); ++i) {
        const double error = std::abs(values[i] - wanted[i]);
        if (!(error <= largest)) largest = std::isnan(error) ? HUGE_VAL : error;
        scale = std::max(scale, std::abs(wanted[i]));
    }
    return largest / scale;
}

}  // namespace mini::test
