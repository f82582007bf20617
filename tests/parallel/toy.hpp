// Small models, and helpers to run ranks, for the tests of parallel training.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/message_of.hpp"

namespace mini::test {

/// Two linear layers with relu between them; parameters fc1.weight (5, 3), fc1.bias,
/// fc2.weight (2, 5), fc2.bias.
class Toy : public nn::Module {
  public:
    Toy() {
        register_module("fc1", fc1);
        register_module("fc2", fc2);
    }
    Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }

    nn::Linear fc1{3, 5};
    nn::Linear fc2{5, 2};
};

/// forward(x) returns the sum of x times each weight that `on` enables.
class Branches : public nn::Module {
  public:
    Branches() {
        register_parameter("a", weights[0]);
        register_parameter("b", weights[1]);
        register_parameter("c", weights[2]);
    }
    Tensor forward(const Tensor& x) override {
        Tensor y;
        for (size_t i = 0; i < weights.size(); ++i)
            if (on[i]) y = y.defined() ? y + x * weights[i] : x * weights[i];
        return sum(y);
    }

    std::vector<Tensor> weights{Tensor::ones({1}), Tensor::ones({1}), Tensor::ones({1})};
    std::vector<bool> on{true, true, true};
};

/// Returns uniform random numbers in [-1, 1), drawn from a generator with this seed.
inline Tensor draw(const Shape& shape, uint64_t seed) {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    Generator generator(seed);
    fill_uniform(values, -1.0, 1.0, generator);
    return Tensor::from(values, shape);
}

/// Runs body(group) on every rank and returns its results, by rank.
template <typename Body>
auto on_ranks(int world_size, const Body& body) {
    using Result = decltype(body(std::declval<dist::ProcessGroup&>()));
    static_assert(!std::is_same_v<Result, bool>,
                  "ranks would write bits of one word of a vector<bool>");
    std::vector<Result> results(static_cast<size_t>(world_size));
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        results[static_cast<size_t>(group.rank())] = body(group);
    });
    return results;
}

/// Returns the gradients of all parameters as one list.
inline std::vector<float> flat_gradients(const nn::Module& module) {
    std::vector<float> all;
    for (const Tensor& parameter : module.parameters()) {
        const auto values = parameter.grad().to_vector<float>();
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

inline std::vector<float> flat_parameters(const nn::Module& module) {
    std::vector<float> all;
    for (const Tensor& parameter : module.parameters()) {
        const auto values = parameter.to_vector<float>();
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

/// Returns the largest |a[i] - b[i]|, or infinity if the sizes differ.
inline double largest_difference(const std::vector<float>& a,
                                 const std::vector<float>& b) {
    double largest = a.size() == b.size() ? 0.0 : INFINITY;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double apart = std::abs(static_cast<double>(a[i]) - b[i]);
        if (!(apart <= largest)) largest = apart;  // even if it is NaN
    }
    return largest;
}

/// Returns the norm of the difference divided by the norm of the expected values, or
/// infinity if the sizes differ.
inline double relative_error(const std::vector<float>& found,
                             const std::vector<float>& expected) {
    if (found.size() != expected.size()) return INFINITY;
    double difference = 0.0, length = 0.0;
    for (size_t i = 0; i < found.size(); ++i) {
        difference += std::pow(static_cast<double>(found[i]) - expected[i], 2);
        length += std::pow(static_cast<double>(expected[i]), 2);
    }
    return std::sqrt(difference / length);
}

/// Returns the indices of the parameters in each bucket of `ddp`.
inline std::vector<std::vector<size_t>> assignment(
    const parallel::DistributedDataParallel& ddp) {
    std::vector<std::vector<size_t>> indices;
    for (const auto& bucket : ddp.buckets()) indices.push_back(bucket.indices());
    return indices;
}

/// Runs forward and backward on two samples of `features` numbers each.
inline void train_once(parallel::DistributedDataParallel& ddp, int64_t features) {
    sum(ddp(draw({2, features}, 1))).backward();
}

}  // namespace mini::test
