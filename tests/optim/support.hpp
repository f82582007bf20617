// Helpers for the tests of optimizers and schedulers.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/optim/optimizer.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::test {

/// Returns a leaf with `n` evenly spaced numbers between -1 and 1, as in
/// tests/golden/make_adam.py.
inline Tensor spread(int64_t n) {
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i)
        values.push_back(static_cast<float>(2 * i + 1 - n) / static_cast<float>(n));
    return Tensor::from(values).set_requires_grad();
}

/// Sets the gradient of p for step `t`, as in tests/golden/make_adam.py.
inline void set_grad(Tensor& p, int64_t t) {
    std::vector<float> values = p.to_vector<float>();
    for (int64_t i = 0; i < p.numel(); ++i) {
        const auto pattern = static_cast<float>((37 * i + 11 * t) % 64);
        float& value = values[static_cast<size_t>(i)];
        value = (pattern - 31.5f) / 32.0f + value / 2;
    }
    p.set_grad(Tensor::from(values, p.shape()));
}

/// Takes the steps `begin` to `end` - 1, with a gradient for each parameter.
inline void take_steps(optim::Optimizer& optimizer, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        for (Tensor p : optimizer.parameters()) set_grad(p, t);
        optimizer.step();
    }
}

}  // namespace mini::test
