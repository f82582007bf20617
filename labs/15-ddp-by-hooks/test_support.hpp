// Helpers for the checks of lab 15: ranks as threads whose groups record the calls, and
// small models.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "labs/check/watched_group.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab15 {

using labs::about;
using labs::ContainsSubstring;
using labs::in_words;
using labs::Journal;
using labs::Values;
using labs::WatchedGroup;

// Returns the values of all tensors; integers are converted to floats.
inline Values values_of(const std::vector<Tensor>& tensors) {
    return labs::values_as_floats(tensors);
}

// ---- ranks, and their results

// Runs body(watched group) on every rank, each in its own thread; returns the results,
// indexed by rank.
template <typename Body>
auto on_ranks(int world_size, const Body& body) {
    return labs::on_ranks(world_size, [&](dist::ProcessGroup& group) {
        return body(std::make_shared<WatchedGroup>(group));
    });
}

// Returns the gradients of all parameters; zeros for a parameter without a gradient.
inline Values gradients_of(const nn::Module& module) {
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : module.parameters())
        gradients.push_back(parameter.grad().defined()
                                ? parameter.grad()
                                : Tensor::zeros(parameter.shape()));
    return values_of(gradients);
}

// Describes the value `got` on `rank`, whose own gradient is rank + 1.
inline std::string diagnosis(float got, int rank, int ranks) {
    const auto is = [got](float value) { return std::abs(got - value) < 1e-5f; };
    const auto count = static_cast<float>(ranks);
    const float mean = (count + 1) / 2;
    if (is(mean)) return "the mean, as it should be";
    if (is(mean * count)) return "the sum: it was not divided by the number of ranks";
    if (is(mean / count)) return "the mean divided once more by the number of ranks";
    if (is(static_cast<float>(rank + 1)))
        return "this rank's own gradient: no all-reduce of it, in place, was waited for";
    if (is(static_cast<float>(rank + 1) / count))
        return "this rank's own gradient, divided: no all-reduce was waited for";
    return "neither the mean, nor the sum, nor this rank's own gradient";
}

// ---- models

// Weights `a` (2 floats) and `b` (1 float). The weight that is used last gets its
// gradient first: `b`, or `a` if reversed. All three numbers have the gradient x.
class TwoWeights : public nn::Module {
  public:
    explicit TwoWeights(bool reversed = false) : reversed_(reversed) {
        register_parameter("a", a);
        register_parameter("b", b);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor first = sum(x * (reversed_ ? b : a));
        return first + sum(x * (reversed_ ? a : b));  // the operands of + have no order
    }

    Tensor a = Tensor::ones({2});
    Tensor b = Tensor::ones({1});

  private:
    bool reversed_;
};

// A layer, a frozen parameter, and buffers of floats and of integers. All values differ
// between the ranks.
class WithState : public nn::Module {
  public:
    explicit WithState(int rank) {
        register_module("fc", fc);
        frozen = register_parameter("frozen", Tensor::full({2}, 20 + rank));
        frozen.set_requires_grad(false);
        mean = register_buffer("mean", Tensor::full({3}, 30 + rank));
        count = register_buffer("count", Tensor::full({1}, 40 + rank, DType::kInt64));
        for (Tensor parameter : {fc.weight, fc.bias}) {
            Tensor values = parameter.detach();
            ops::fill_(values, static_cast<float>(10 + rank));
        }
    }
    Tensor forward(const Tensor& x) override { return fc(x); }

    nn::Linear fc{3, 2};
    Tensor frozen, mean, count;
};

inline Values state_of(const nn::Module& module) {
    Values all = values_of(module.parameters());
    const Values buffers = values_of(module.buffers());
    all.insert(all.end(), buffers.begin(), buffers.end());
    return all;
}

}  // namespace mini::lab15
