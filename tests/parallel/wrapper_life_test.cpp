// What a program may do with a wrapped module: freeze and thaw layers, change parameters,
// run backward passes of its own, and destroy the wrapper at any time.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/parallel/data_parallel.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/parallel/wrappers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

void freeze(nn::Module& layer, bool frozen = true) {
    for (Tensor& parameter : layer.parameters()) parameter.set_requires_grad(!frozen);
}

// The gradient of Toy::fc2.bias, with an input of four samples, is 4 on each rank.
float last_gradient(const Toy& module) {
    return module.fc2.bias.grad().to_vector<float>()[0];
}

Tensor four_samples(const dist::ProcessGroup& group) {
    return draw({4, 3}, static_cast<uint64_t>(group.rank()));
}

// Returns what body(module, wrapped, x) returns on each of two ranks. On rank r, x is r + 1,
// which is the gradient of each weight of `module`; `wrapped` wraps it.
template <typename Body>
auto on_two_ranks(Wrapper wrapper, const Body& body) {
    return on_ranks(2, [&](dist::ProcessGroup& group) {
        Branches module;
        auto wrapped = wrap(wrapper, module);
        return body(module, wrapped, Tensor::full({1}, group.rank() + 1));
    });
}

}  // namespace

TEST_CASE("a wrapper can be destroyed after its parameters were frozen") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    CAPTURE(name_of(wrapper));
    const auto gradients = on_ranks(2, [&](dist::ProcessGroup& group) {
        Toy module;
        {
            const auto wrapped = wrap(wrapper, module);
            sum((*wrapped)(four_samples(group))).backward();
            freeze(module);
        }
        freeze(module, false);
        module.zero_grad();
        sum(module(Tensor::full({1, 3}, group.rank()))).backward();
        const float alone = last_gradient(module);  // no hook is left
        const auto again = wrap(wrapper, module);
        module.zero_grad();
        sum((*again)(four_samples(group))).backward();
        return std::pair(alone, last_gradient(module));
    });
    for (const auto& seen : gradients) CHECK(seen == std::pair(1.0f, 4.0f));
}

TEST_CASE("with find_unused_parameters a frozen layer counts as unused until it thaws") {
    const int ranks = GENERATE(1, 2, 3);
    const bool clears = GENERATE(false, true);
    CAPTURE(ranks, clears);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Toy module;
        DistributedDataParallel ddp(module, {.find_unused_parameters = true});
        std::vector<float> last;
        bool has_gradient = false;
        for (const bool frozen : {false, true, true, false}) {
            freeze(module.fc1, frozen);
            if (clears) module.zero_grad();
            sum(ddp(four_samples(group))).backward();
            last.push_back(last_gradient(module));
            if (frozen && clears)
                has_gradient = has_gradient || module.fc1.weight.grad().defined();
        }
        return std::tuple(last, has_gradient,
                          module.fc1.weight.grad().to_vector<float>());
    });
    for (const auto& [last, has_gradient, first_layer] : seen) {
        CHECK(last == (clears ? std::vector<float>{4, 4, 4, 4}
                              : std::vector<float>{4, 8, 12, 16}));
        CHECK_FALSE(has_gradient);
        CHECK(first_layer == std::get<2>(seen[0]));
    }
}

TEST_CASE("a parameter that is frozen on one rank only is averaged with zeros") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches module;
        DistributedDataParallel ddp(module, {.find_unused_parameters = true});
        module.weights[1].set_requires_grad(group.rank() == 0);
        ddp(Tensor::full({1}, group.rank() + 1)).backward();
        return std::pair(module.weights[0].grad().item(),
                         module.weights[1].grad().item());
    });
    for (const auto& gradients : seen) CHECK(gradients == std::pair(1.5, 0.5));
}

TEST_CASE("without find_unused_parameters a frozen parameter is an error that names it") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    CAPTURE(name_of(wrapper));
    const auto messages = on_ranks(2, [&](dist::ProcessGroup& group) {
        Toy module;
        const auto wrapped = wrap(wrapper, module);
        sum((*wrapped)(four_samples(group))).backward();
        module.zero_grad();
        freeze(module.fc1);
        const Tensor loss = sum((*wrapped)(four_samples(group)));
        return message_of([&] { loss.backward(); });
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        CHECK(contains(messages[rank], "fc1.weight"));
        CHECK(contains(messages[rank], concat("on rank ", rank)));
    }
}

TEST_CASE("the next forward names a parameter that was changed after wrapping") {
    struct Change {
        std::string text;
        std::function<void(Branches&)> make;
    };
    const Change change = GENERATE(values<Change>(
        {{"b was replaced",
          [](Branches& module) {
              module.weights[1].set_autograd_meta(nullptr);
              module.weights[1].set_requires_grad();
          }},
         {"b was replaced",
          [](Branches& module) {
              module.weights[1] = Tensor::ones({1}).set_requires_grad();
          }},
         {"b was replaced",
          [](Branches& module) { module.weights[1] = module.weights[0]; }},
         {"c was replaced",
          [](Branches& module) { module.weights[2] = module.weights[0]; }},
         {"b was changed from (1,) to (2,)",
          [](Branches& module) { module.weights[1].set_data(Tensor::ones({2})); }},
         {"c began to require grad",
          [](Branches& module) { module.weights[2].set_requires_grad(); }}}));
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    const bool averages = GENERATE(false, true);
    CAPTURE(name_of(wrapper), change.text, averages);
    const auto messages = on_ranks(2, [&](dist::ProcessGroup&) {
        Branches module;
        module.weights[2].set_requires_grad(false);
        const auto wrapped = wrap(wrapper, module);
        change.make(module);
        return message_of([&] {
            if (averages) return void((*wrapped)(Tensor::ones({1})));
            const auto within = wrapped->no_sync();
            (*wrapped)(Tensor::ones({1}));
        });
    });
    for (size_t rank = 0; rank < 2; ++rank)
        CHECK(contains(messages[rank],
                       concat("parameter ", change.text, " on rank ", rank)));
}

TEST_CASE("values that were set by set_data are trained") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    const auto seen = on_two_ranks(wrapper, [](auto& module, auto& wrapped, auto x) {
        (*wrapped)(x).backward();
        module.weights[1].set_data(Tensor::full({1}, 5));
        (*wrapped)(x).backward();
        return module.weights[1].grad().item();
    });
    for (const double gradient : seen) CHECK(gradient == 3);
}

TEST_CASE(
    "a loss of the bare module is not averaged, and the next pass averages the sum") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    CAPTURE(name_of(wrapper));
    const auto seen = on_two_ranks(wrapper, [](auto& module, auto& wrapped, auto x) {
        module(x).backward();
        const double alone = module.weights[0].grad().item();
        (*wrapped)(x).backward();
        return std::pair(alone, module.weights[0].grad().item());
    });
    CHECK(seen[0] == std::pair(1.0, 3.0));
    CHECK(seen[1] == std::pair(2.0, 3.0));
}

TEST_CASE("a backward pass that would not average a result of forward is an error") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    const std::string scene = GENERATE("retain_graph", "another forward", "bare module");
    CAPTURE(name_of(wrapper), scene);
    const auto messages = on_ranks(2, [&](dist::ProcessGroup&) {
        Branches module;
        const auto wrapped = wrap(wrapper, module);
        const Tensor x = Tensor::ones({1});
        const Tensor loss = (*wrapped)(x);
        if (scene == "retain_graph")
            loss.backward({.gradient = {}, .retain_graph = true});
        if (scene == "another forward") (*wrapped)(x).backward();
        if (scene == "bare module") module(x).backward();
        const std::string message = message_of([&] { loss.backward(); });
        module.zero_grad();
        (*wrapped)(x).backward();  // the wrapper is still of use
        return std::pair(message, module.weights[0].grad().item());
    });
    for (const auto& [message, gradient] : messages) {
        CHECK(contains(message, "call forward() again"));
        CHECK(gradient == 1);
    }
}

TEST_CASE("two results of forward can be averaged in one backward pass") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    const auto seen = on_two_ranks(wrapper, [](auto& module, auto& wrapped, auto x) {
        const Tensor first = (*wrapped)(x);
        (first + (*wrapped)(x)).backward();
        return module.weights[0].grad().item();
    });
    for (const double gradient : seen) CHECK(gradient == 3);
}

TEST_CASE("within no_sync a graph may be used for several backward passes") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    const auto seen = on_two_ranks(wrapper, [](auto& module, auto& wrapped, auto x) {
        const auto no_sync = wrapped->no_sync();
        const Tensor loss = (*wrapped)(x);
        loss.backward({.gradient = {}, .retain_graph = true});
        loss.backward();
        return module.weights[0].grad().item();
    });
    CHECK(seen == std::vector<double>{2, 4});
}

TEST_CASE("a graph that outlives its wrapper accumulates on this rank") {
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    const auto seen = on_two_ranks(wrapper, [](auto& module, auto& wrapped, auto x) {
        const Tensor loss = (*wrapped)(x);
        wrapped.reset();
        loss.backward();
        return module.weights[0].grad().item();
    });
    CHECK(seen == std::vector<double>{1, 2});
}

TEST_CASE("DataParallel trains a module whose layer is frozen and thawed", "[cpu]") {
    Toy module;
    DataParallel network(
        module, [] { return std::make_unique<Toy>(); },
        {.device_ids = {Device::cpu(0), Device::cpu(1)}, .output_device = {}});
    for (const bool frozen : {false, true, false}) {
        CAPTURE(frozen);
        freeze(module.fc1, frozen);
        module.zero_grad();
        sum(network(draw({4, 3}, 1))).backward();
        CHECK(module.fc1.weight.grad().defined() == !frozen);
        CHECK(last_gradient(module) == 4);
    }
}
