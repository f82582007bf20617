// Helpers for the checks of lab 14: ranks as threads, and the diagnosis of a wrong
// gradient.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "labs/14-gradient-averaging/distributed_sgd.hpp"
#include "labs/check/both_values.hpp"
#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "labs/check/watched_group.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "libmini/parallel/average_parameters.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

namespace mini::lab14 {

using labs::about;
using labs::ContainsSubstring;
using labs::on_ranks;
using labs::Values;
using labs::values_of;

// ---- ranks, and their results

inline Values gradients_of(const std::vector<Tensor>& parameters) {
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : parameters) gradients.push_back(parameter.grad());
    return values_of(gradients);
}

// Returns the sizes in bytes of this rank's collectives with this name, in the order of
// their starts.
inline std::vector<int64_t> bytes_of(dist::ProcessGroup& group, std::string_view name) {
    std::vector<int64_t> bytes;
    for (const Event& event : group.events().snapshot(EventKind::kCollectiveBegin))
        if (event.name == name) bytes.push_back(event.bytes);
    return bytes;
}

inline std::vector<int64_t> all_reduces(dist::ProcessGroup& group) {
    return bytes_of(group, "all_reduce");
}

// ---- the diagnosis of a wrong gradient

inline bool near(float a, float b) { return std::abs(a - b) < 1e-5f; }

// Describes the value `got` on `rank`, whose own gradient was rank + 1.
inline std::string diagnosis(float got, int rank, int ranks) {
    const auto mean = static_cast<float>(ranks + 1) / 2;
    if (near(got, mean)) return "the mean, as it should be";
    if (near(got, mean * static_cast<float>(ranks)))
        return "the sum: divide it by the number of ranks";
    if (near(got, static_cast<float>(rank + 1)))
        return "this rank's own gradient: it was not averaged";
    if (near(got, mean / static_cast<float>(ranks)))
        return "the mean divided again by the number of ranks: kAvg divides already";
    if (near(got, 0)) return "zero: the gradient was lost";
    return "neither the sum, nor the mean, nor this rank's own gradient";
}

// Returns parameters of unusual shapes, one of them empty. All gradients of rank r are
// r + 1.
inline std::vector<Tensor> parameters_with_gradients(int rank) {
    std::vector<Tensor> parameters;
    for (const Shape& shape : std::vector<Shape>{{2, 3}, {1}, {0}, {5}}) {
        Tensor parameter = Tensor::full(shape, 10.0 * (rank + 1));
        parameter.set_requires_grad();
        parameter.set_grad(Tensor::full(shape, rank + 1));
        parameters.push_back(parameter);
    }
    return parameters;
}

struct Averaged {
    Values gradients;
    Values parameters;
    std::vector<int64_t> all_reduces;
};

template <typename Average>
inline std::vector<Averaged> averaged(int ranks, const Average& average) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto parameters = parameters_with_gradients(group.rank());
        labs::WatchedGroup watched(group);  // an all-reduce runs in its wait, not before
        average(parameters, watched);
        return Averaged{gradients_of(parameters), values_of(parameters),
                        all_reduces(group)};
    });
}

// Checks that all gradients are the mean over the ranks, and that the parameters are
// unchanged.
inline void check_means(const std::vector<Averaged>& seen) {
    const auto ranks = static_cast<int>(seen.size());
    for (int rank = 0; rank < ranks; ++rank) {
        const Averaged& mine = seen[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << ", whose gradients were all "
                     << rank + 1 << "; their mean over the ranks is "
                     << (ranks + 1) / 2.0);
        REQUIRE(mine.gradients.size() == 12);
        for (const float got : mine.gradients) {
            INFO("a gradient is now " << got << ", " << diagnosis(got, rank, ranks));
            REQUIRE(got == about((ranks + 1) / 2.0, 1e-5));
        }
        INFO("every parameter was "
             << 10 * (rank + 1)
             << " and must not change: averaging gradients changes "
                "gradients, the optimizer changes parameters");
        CHECK(mine.parameters == Values(12, 10.0f * static_cast<float>(rank + 1)));
        INFO("all ranks must hold the same bits, or the replicas drift apart");
        CHECK(mine.gradients == seen[0].gradients);
    }
}

// Checks the error of each rank if its only parameter has no gradient.
template <typename Average>
inline void check_missing_gradient(const Average& average) {
    const auto messages = on_ranks(2, [&](dist::ProcessGroup& group) {
        std::vector<Tensor> parameters = parameters_with_gradients(group.rank());
        average(parameters, group);
        parameters[1].set_grad(Tensor());
        return test::message_of([&] { average({parameters[1]}, group); });
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        INFO("the only parameter, of shape (1,), has no gradient on rank "
             << rank << ": an error with its index and the rank; \"\" is no error");
        CHECK_THAT(messages[rank], ContainsSubstring("parameter 0"));
        CHECK_THAT(messages[rank], ContainsSubstring(concat("rank ", rank)));
    }
}

// ---- a model with a state

// A layer with a float buffer and an integer counter; their values depend on the rank.
class Counted : public nn::Module {
  public:
    explicit Counted(int rank) {
        register_module("fc", fc);
        fc.bias.set_requires_grad(false);  // frozen, but a part of the model
        mean = register_buffer("mean", Tensor::full({2}, rank + 1));
        count = register_buffer("count", Tensor::full({1}, 10 + rank, DType::kInt64));
    }
    Tensor forward(const Tensor& x) override { return fc(x); }

    nn::Linear fc{3, 2};
    Tensor mean, count;
};

struct State {
    Values parameters, mean;
    double count = 0;
};

inline State state_of(const Counted& model) {
    return {values_of(model.parameters()), values_of({model.mean}), model.count.item()};
}

}  // namespace mini::lab14
