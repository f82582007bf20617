// What the tests of optimizers and schedulers share.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/optim/optimizer.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::test {

/// A leaf of `n` numbers from -1 to 1, as tests/golden/make_adam.py has it.
inline Tensor spread(int64_t n) {
    Tensor p = Tensor::empty({n});
    for (int64_t i = 0; i < n; ++i)
        p.data<float>()[i] = static_cast<float>(2 * i + 1 - n) / static_cast<float>(n);
    return p.set_requires_grad();
}

/// The gradient of step `t`, as tests/golden/make_adam.py has it.
inline void set_grad(Tensor& p, int64_t t) {
    Tensor grad = Tensor::empty(p.shape());
    for (int64_t i = 0; i < p.numel(); ++i) {
        const auto pattern = static_cast<float>((37 * i + 11 * t) % 64);
        grad.data<float>()[i] = (pattern - 31.5f) / 32.0f + p.data<float>()[i] / 2;
    }
    p.set_grad(grad);
}

/// Takes steps number `begin` to `end` - 1, with a gradient for each parameter.
inline void take_steps(optim::Optimizer& optimizer, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        for (Tensor p : optimizer.parameters()) set_grad(p, t);
        optimizer.step();
    }
}

}  // namespace mini::test
