#include "libmini/parallel/average_parameters.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/nn/norm.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;

namespace {

// A module with one layer under two names, and a normalisation layer with buffers.
class Shared : public nn::Module {
  public:
    Shared() {
        register_module("first", layer_);
        register_module("again", layer_);
        register_module("norm", norm);
    }
    Tensor forward(const Tensor& x) override { return layer_(x); }

    nn::BatchNorm2d norm{2};

  private:
    nn::Linear layer_{1, 1};
};

// All parameters and buffers of the module, as floats.
std::vector<std::vector<float>> state_of(const nn::Module& module) {
    std::vector<std::vector<float>> state;
    for (const auto& [name, tensor] : module.state_dict())
        state.push_back(ops::to(tensor, DType::kFloat32).to_vector<float>());
    return state;
}

void fill_state(const nn::Module& module, int value) {
    for (auto [name, tensor] : module.state_dict())
        ops::copy_(tensor,
                   ops::to(Tensor::full(tensor.shape(), static_cast<float>(value)),
                           tensor.dtype()));
}

}  // namespace

TEST_CASE("average_parameters sets parameters and buffers to the mean over ranks") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    struct Seen {
        std::vector<std::vector<float>> state;
        size_t collectives = 0;
    };
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        const Shared module;
        fill_state(module, group.rank() + 1);
        parallel::average_parameters(module, group);
        return Seen{state_of(module),
                    group.events().snapshot(EventKind::kCollectiveBegin).size()};
    });

    // The ranks' values are 1, 2, .. P; their mean is (P + 1) / 2, exact in float32. The
    // integer counter is not averaged: every rank gets rank 0's value, 1.
    const auto mean = static_cast<float>(ranks + 1) / 2;
    const std::vector<std::vector<float>> expected = {
        {mean},       {mean},        // first.weight, first.bias
        {mean},       {mean},        // again
        {mean, mean}, {mean, mean},  // norm.weight, norm.bias
        {mean, mean}, {mean, mean},  // running_mean, running_var
        {1.0f}};                     // num_batches_tracked
    for (const Seen& rank : seen) {
        CHECK(rank.state == expected);
        CHECK(rank.collectives == 7);  // a shared tensor is averaged once
    }
}

TEST_CASE("averaged parameters are bitwise identical on all ranks") {
    const int ranks = GENERATE(2, 3, 7);
    CAPTURE(ranks);
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        manual_seed(static_cast<uint64_t>(group.rank()));
        const Toy module;
        parallel::average_parameters(module, group);
        return flat_parameters(module);
    });
    for (const auto& parameters : seen) CHECK(parameters == seen[0]);
}

TEST_CASE("averaging different modules throws an error on every rank") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        const nn::Linear module(2, 3 + group.rank());
        return message_of<MismatchedCollective>(
            [&] { parallel::average_parameters(module, group); });
    });
    for (const std::string& message : messages) CHECK(!message.empty());
}
