// The sharded optimizer: who owns what, elastic resume, and errors. The checks of lab 19
// compare its steps and its consolidated state with the unsharded optimizer's.

#include "libmini/parallel/zero.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;
using namespace mini::test;
using optim::OptimizerState;
using parallel::ZeroRedundancyOptimizer;

namespace {

using Values = std::vector<float>;

std::unique_ptr<optim::Optimizer> make_sgd(std::vector<Tensor> parameters) {
    return std::make_unique<optim::SGD>(
        std::move(parameters),
        optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01});
}

std::unique_ptr<optim::Optimizer> make_adam(std::vector<Tensor> parameters) {
    return std::make_unique<optim::Adam>(std::move(parameters),
                                         optim::AdamOptions{.lr = 0.01, .amsgrad = true});
}

// SGD's state of a parameter has only tensors; Adam's state also has a number.
const std::vector<parallel::OptimizerFactory> kFactories{make_sgd, make_adam};

// Five parameters, of sizes 12, 1, 7, 0 and 40; the same on every rank.
std::vector<Tensor> make_parameters() {
    std::vector<Tensor> parameters;
    for (const Shape& shape : {Shape{3, 4}, Shape{1}, Shape{7}, Shape{0}, Shape{2, 4, 5}})
        parameters.push_back(draw(shape, parameters.size()).set_requires_grad());
    return parameters;
}

// Sets the gradients of one step; parameter 1 has no gradient in even steps.
void set_gradients(std::vector<Tensor>& parameters, uint64_t step) {
    for (size_t i = 0; i < parameters.size(); ++i)
        parameters[i].set_grad(i == 1 && step % 2 == 0
                                   ? Tensor()
                                   : draw(parameters[i].shape(), 100 * step + i));
}

void take_steps(optim::Optimizer& optimizer, uint64_t first, uint64_t end) {
    std::vector<Tensor> parameters = optimizer.parameters();
    for (uint64_t step = first; step < end; ++step) {
        set_gradients(parameters, step);
        optimizer.step();
    }
}

Values flat(const std::vector<Tensor>& parameters) {
    Values all;
    for (const Tensor& parameter : parameters)
        std::ranges::copy(parameter.to_vector<float>(), std::back_inserter(all));
    return all;
}

Values plain_parameters_after(uint64_t steps, const parallel::OptimizerFactory& make) {
    const auto plain = make(make_parameters());
    take_steps(*plain, 0, steps);
    return flat(plain->parameters());
}

int64_t elements(const OptimizerState& state) {
    int64_t count = 0;
    for (const auto& [name, tensor] : state.tensors) count += tensor.numel();
    return count;
}

void check_equal(const OptimizerState& a, const OptimizerState& b) {
    CHECK(a.numbers == b.numbers);
    REQUIRE(a.tensors.size() == b.tensors.size());
    for (const auto& [name, tensor] : a.tensors) {
        CAPTURE(name);
        REQUIRE(b.tensors.contains(name));
        CHECK(ops::equal(tensor, b.tensors.at(name)));
    }
}

}  // namespace

TEST_CASE("parameters are partitioned over ranks as in PyTorch") {
    for (const auto& golden : golden_cases("zero_partition")) {
        const std::string name = golden["name"];
        const int world_size = golden["world_size"];
        CAPTURE(name, world_size);
        CHECK(parallel::partition_parameters(golden["sizes"].get<std::vector<int64_t>>(),
                                             world_size) ==
              golden["owners"].get<std::vector<int>>());
    }
}

TEST_CASE("each state element is on one rank and no rank has much more than its share") {
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(world_size);
    const auto by_rank = on_ranks(world_size, [](dist::ProcessGroup&) {
        std::vector<Tensor> parameters;
        for (int i = 0; i < 24; ++i)
            parameters.push_back(Tensor::zeros({10 + i % 5}).set_requires_grad());
        ZeroRedundancyOptimizer zero(parameters, make_sgd);
        take_steps(zero, 1, 2);
        return elements(zero.local_optimizer().state_dict());
    });
    const int64_t total = 24 * 10 + 4 * (1 + 2 + 3 + 4) + 1 + 2 + 3;
    CHECK(std::accumulate(by_rank.begin(), by_rank.end(), int64_t{0}) == total);
    for (const int64_t count : by_rank) CHECK(count <= total / world_size + 14);
}

TEST_CASE("consolidating does not take a message between two ranks from its receiver") {
    const int world_size = GENERATE(2, 3, 4, 7);
    CAPTURE(world_size);
    const auto by_rank = on_ranks(world_size, [&](dist::ProcessGroup& group) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd);
        take_steps(zero, 0, 3);

        // The last rank's message is in flight during the consolidation.
        const int last = group.world_size() - 1;
        const Tensor message = Tensor::from<int64_t>({group.rank()});
        dist::WorkHandle sending;
        if (group.rank() == last) sending = group.send_async(message, 0);
        zero.consolidate_state_dict(0);
        if (group.rank() == 0) group.recv(message, last);
        if (sending) sending->wait();
        return std::pair(message.to_vector<int64_t>(),
                         group.rank() == 0 ? zero.state_dict() : OptimizerState());
    });
    const auto plain = make_sgd(make_parameters());
    take_steps(*plain, 0, 3);
    CHECK(by_rank[0].first == std::vector<int64_t>{world_size - 1});
    check_equal(by_rank[0].second, plain->state_dict());
}

TEST_CASE("a state saved on one number of ranks resumes bitwise identically on another") {
    const int before = GENERATE(1, 2, 3, 4, 7);
    const int after = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(before, after);
    for (const auto& make : kFactories) {
        OptimizerState state;
        std::vector<Tensor> parameters;
        dist::run_threads(before, [&](dist::ProcessGroup& group) {
            ZeroRedundancyOptimizer zero(make_parameters(), make);
            take_steps(zero, 0, 3);
            zero.consolidate_state_dict(0);
            if (group.rank() != 0) return;
            state = zero.state_dict();
            parameters = zero.parameters();
        });
        const auto by_rank = on_ranks(after, [&](dist::ProcessGroup&) {
            std::vector<Tensor> copies;
            for (const Tensor& parameter : parameters)
                copies.push_back(
                    ops::clone(parameter.to(default_device())).set_requires_grad());
            ZeroRedundancyOptimizer zero(copies, make);
            zero.load_state_dict(state);
            take_steps(zero, 3, 6);
            return flat(copies);
        });
        const Values expected = plain_parameters_after(6, make);
        for (const Values& values : by_rank) CHECK(values == expected);
    }
}

TEST_CASE("a state that is missing or out of date is rejected") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup&) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd);
        std::vector<std::string> messages;
        zero.consolidate_state_dict(1);
        messages.push_back(message_of([&] { zero.state_dict(); }));
        take_steps(zero, 0, 1);
        messages.push_back(message_of([&] { zero.state_dict(); }));
        messages.push_back(message_of([&] { zero.consolidate_state_dict(2); }));
        const OptimizerState alien{.tensors = {{"state.9.momentum_buffer", Tensor()}},
                                   .numbers = {}};
        messages.push_back(message_of([&] { zero.load_state_dict(alien); }));
        const OptimizerState odd{.tensors = {}, .numbers = {{"state.x", 1}}};
        messages.push_back(message_of([&] { zero.load_state_dict(odd); }));
        return messages;
    });
    const std::string missing =
        "ZeroRedundancyOptimizer: rank 0 has the state of its own parameters only; call "
        "consolidate_state_dict(0) on all ranks, after the last step";
    CHECK(by_rank[0][0] == missing);
    CHECK(by_rank[1][0] == "");
    CHECK(by_rank[0][1] == missing);
    CHECK(by_rank[1][1] != "");
    CHECK(by_rank[0][2] ==
          "consolidate_state_dict: rank 2 does not exist; ranks are 0 to 1");
    CHECK(by_rank[1][3] ==
          "ZeroRedundancyOptimizer: the state has a parameter 9, but rank "
          "1 has 5 parameters");
    CHECK(by_rank[0][4] ==
          "optimizer state: the name state.x is not of the form state.NUMBER.WHAT");
}

TEST_CASE("ranks with different parameter lists get the same error on every rank") {
    const Tensor two = Tensor::zeros({2}), four = Tensor::zeros({4});
    const nn::NamedTensors list{{"key", two}, {"value", four}};
    struct Case {
        nn::NamedTensors on_rank_2;
        std::string error;
    };
    const Case each = GENERATE_COPY(values<Case>(
        {{{{"key", two}},
          "rank 0 has 2 parameters, but rank 2 has 1; every rank must pass the same "
          "list"},
         {{{"key", two}, {"value", Tensor::zeros({4, 1})}},
          "parameter 1 (here value) is (4,) on rank 0, but (4, 1) on rank 2; every rank "
          "must pass the same list"},
         {{{"value", two}, {"key", four}},
          "of the parameters, number 0 is key on rank 0, but value on rank 2; every rank "
          "must pass the same list, in the same order"}}));
    const auto messages = on_ranks(3, [&](dist::ProcessGroup& group) {
        const auto& mine = group.rank() == 2 ? each.on_rank_2 : list;
        return message_of([&] { ZeroRedundancyOptimizer(mine, make_sgd); });
    });
    for (const std::string& message : messages)
        CHECK(message == "ZeroRedundancyOptimizer: " + each.error);
}

TEST_CASE("parameters other than float32 are rejected") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup&) {
        return message_of<UsageError>([] {
            ZeroRedundancyOptimizer({Tensor::zeros({2}, DType::kInt64)}, make_sgd);
        });
    });
    CHECK(by_rank[0] == "ZeroRedundancyOptimizer: parameter 0 is int64, not float32");
}
