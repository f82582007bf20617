// Helpers for the checks of lab 19: ranks as threads, parameters of awkward sizes, and
// optimizers whose every step is known.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "labs/check/watched_group.hpp"
#include "libmini/core/error.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab19 {

using labs::draw;
using labs::in_words;
using labs::Journal;
using labs::on_ranks;
using labs::Values;
using labs::values_of;
using labs::WatchedGroup;
using optim::OptimizerState;
using parallel::OptimizerFactory;
using parallel::ZeroRedundancyOptimizer;

// Five parameters, of 12, 1, 7, 0 and 40 elements; the same on every rank.
inline std::vector<Tensor> make_parameters() {
    std::vector<Tensor> parameters;
    for (const Shape& shape : {Shape{3, 4}, Shape{1}, Shape{7}, Shape{0}, Shape{2, 4, 5}})
        parameters.push_back(draw(shape, parameters.size()).set_requires_grad());
    return parameters;
}

inline std::unique_ptr<optim::Optimizer> make_sgd(std::vector<Tensor> parameters) {
    return std::make_unique<optim::SGD>(std::move(parameters),
                                        optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
}

inline std::unique_ptr<optim::Optimizer> make_adam(std::vector<Tensor> parameters) {
    return std::make_unique<optim::Adam>(std::move(parameters),
                                         optim::AdamOptions{.lr = 0.01});
}

struct Kind {
    const char* name;
    OptimizerFactory make;
};
// The state of SGD has only tensors for a parameter; that of Adam also has a number.
inline const std::vector<Kind> kKinds{{"SGD with momentum", make_sgd},
                                      {"Adam", make_adam}};

// Makes the steps first ... end - 1 with known gradients, equal on all ranks. Parameter 1
// has no gradient in even steps.
inline void take_steps(optim::Optimizer& optimizer, uint64_t first, uint64_t end) {
    std::vector<Tensor> parameters = optimizer.parameters();
    for (uint64_t step = first; step < end; ++step) {
        for (size_t i = 0; i < parameters.size(); ++i)
            parameters[i].set_grad(i == 1 && step % 2 == 0
                                       ? Tensor()
                                       : draw(parameters[i].shape(), 100 * step + i));
        optimizer.step();
    }
}

// Names an optimizer state's entries: "lr, state.0.exp_avg, state.0.step".
inline std::string names_of(const OptimizerState& state) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : state.tensors) names.push_back(name);
    for (const auto& [name, number] : state.numbers)
        if (name.starts_with("state.")) names.push_back(name);
    std::ranges::sort(names);
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "no parameter's state" : text;
}

}  // namespace mini::lab19
