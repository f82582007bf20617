// Helpers for the checks of lab 19: ranks as threads, parameters of awkward sizes, and
// optimizers whose every step is known.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/check/error_of.hpp"
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

using labs::about;
using labs::ContainsSubstring;
using labs::draw;
using labs::error_of;
using labs::FiveInOne;
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

// Adagrad divides by the root of the sum of all squared gradients. As in PyTorch, the sum
// exists from the constructor on, also for a parameter that never has a gradient.
class Adagrad : public optim::Optimizer {
  public:
    explicit Adagrad(std::vector<Tensor> parameters)
        : Optimizer(std::move(parameters), 0.1) {
        for (const Tensor& each : parameters_)
            sums_.push_back(each.new_zeros(each.shape()));
    }

    void step() override {
        for (size_t i = 0; i < parameters_.size(); ++i) {
            if (!parameters_[i].grad().defined()) continue;
            const Values gradient = parameters_[i].grad().to_vector<float>();
            const auto p = parameters_[i].span<float>(), sum = sums_[i].span<float>();
            for (size_t k = 0; k < gradient.size(); ++k) {
                sum[k] += gradient[k] * gradient[k];
                p[k] -=
                    static_cast<float>(lr()) * gradient[k] / (std::sqrt(sum[k]) + 1e-10f);
            }
            parameters_[i].bump_version();
        }
    }

    OptimizerState state_dict() const override {
        OptimizerState state{.tensors = {}, .numbers = {{"lr", lr()}}};
        for (size_t i = 0; i < parameters_.size(); ++i)
            state.tensors[optim::state_name(i, "sum")] = sums_[i];
        return state;
    }

    void load_state_dict(const OptimizerState& state) override {
        optim::StateReader reader("Adagrad", state, parameters_);
        const double lr = reader.number("lr");
        const std::vector<Tensor> sums = reader.tensors("sum");
        reader.finish();
        set_lr(lr);
        for (size_t i = 0; i < parameters_.size(); ++i)
            sums_[i] = sums[i].defined()
                           ? sums[i]
                           : parameters_[i].new_zeros(parameters_[i].shape());
    }

  private:
    std::vector<Tensor> sums_;
};

inline std::unique_ptr<optim::Optimizer> make_adagrad(std::vector<Tensor> parameters) {
    return std::make_unique<Adagrad>(std::move(parameters));
}

struct Kind {
    const char* name;
    OptimizerFactory make;
};
// The state of SGD has only tensors for a parameter; that of Adam also has a number; that
// of Adagrad is there before the first step.
inline const std::vector<Kind> kKinds{
    {"SGD with momentum", make_sgd}, {"Adam", make_adam}, {"Adagrad", make_adagrad}};

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

// Returns "element 12 of 60 is 0.5, and should be 0.25"; "none" if all are equal.
inline std::string first_difference(const Values& found, const Values& expected) {
    if (found.size() != expected.size())
        return concat("there are ", found.size(), " elements, and there should be ",
                      expected.size());
    const auto [at, right] = std::ranges::mismatch(found, expected);
    if (at == found.end()) return "none";
    return concat("element ", at - found.begin(), " of ", found.size(), " is ",
                  optim::exact_text(*at), ", and should be ", optim::exact_text(*right));
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
