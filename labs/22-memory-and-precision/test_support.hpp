// Helpers for the checks of lab 22: layers that count their calls, and counted memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/check/error_of.hpp"
#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "libmini/autograd/checkpoint.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/low_precision.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab22 {

using labs::draw;
using labs::error_of;
using labs::Values;
using labs::values_of;

constexpr int64_t kSize = 64;                  // matrices are 64 x 64
constexpr size_t kMatrix = 4 * kSize * kSize;  // bytes

// Layers one after the other, each with one weight.
struct Layers {
    explicit Layers(size_t count) {
        for (size_t i = 0; i < count; ++i)
            weights.push_back(draw({kSize, kSize}, 100 + i).set_requires_grad());
    }

    Tensor layer(const Tensor& x, size_t i) {
        ++calls;
        return gelu(linear(x, weights[i]));
    }
    Tensor operator()(const Tensor& x) {
        Tensor y = x;
        for (size_t i = 0; i < weights.size(); ++i) y = layer(y, i);
        return y;
    }

    // Returns all gradients, and clears them.
    Values gradients() {
        std::vector<Tensor> found;
        for (Tensor& weight : weights) {
            if (weight.grad().defined()) found.push_back(weight.grad());
            weight.set_grad({});
        }
        return values_of(found);
    }

    std::vector<Tensor> weights;
    int calls = 0;  // of layer()
};

// Returns how many matrices of memory are in use beyond `before` bytes, rounded; 2 KiB of
// small tensors do not count.
inline int64_t matrices_beyond(size_t before) {
    return (static_cast<int64_t>(allocated_bytes()) - static_cast<int64_t>(before) +
            static_cast<int64_t>(kMatrix) - 2049) /
           static_cast<int64_t>(kMatrix);
}

}  // namespace mini::lab22
