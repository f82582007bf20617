// Which modules can be wrapped: no parameter twice, and the same parameters and buffers,
// in the same order, on all ranks.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/nn/norm.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/parallel/wrappers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

// Applies `part`, which may be wrapped already, and a layer of its own.
class Whole : public nn::Module {
  public:
    explicit Whole(nn::Module& part) : part_(part) {
        register_module("part", part);
        register_module("head", head);
    }
    Tensor forward(const Tensor& x) override { return part_(x) + head(x); }

    nn::Linear head{1, 1, {.bias = false}};

  private:
    nn::Module& part_;
};

// Two layers of one shape, and two buffers of one shape.
class Pair : public nn::Module {
  public:
    Pair(bool swaps_layers, bool swaps_buffers) {
        register_module(swaps_layers ? "value" : "key", swaps_layers ? value : key);
        register_module(swaps_layers ? "key" : "value", swaps_layers ? key : value);
        register_buffer(swaps_buffers ? "count" : "mean", Tensor::ones({3}));
        register_buffer(swaps_buffers ? "mean" : "count", Tensor::zeros({3}));
    }
    Tensor forward(const Tensor& x) override { return key(x) - value(x); }

    nn::Linear key{2, 1, {.bias = false}}, value{2, 1, {.bias = false}};
};

// A trained layer after a frozen one.
class FrozenNorm : public nn::Module {
  public:
    explicit FrozenNorm(int64_t channels) : norm(channels) {
        register_module("norm", norm);
        register_module("head", head);
        for (Tensor& parameter : norm.parameters()) parameter.set_requires_grad(false);
    }
    Tensor forward(const Tensor& x) override { return head(norm(x)); }

    nn::BatchNorm1d norm;
    nn::Linear head{1, 1};
};

}  // namespace

TEST_CASE("a wrapped module cannot be wrapped again, and neither can a part of it") {
    const Wrapper inner = GENERATE(from_range(kWrappers));
    const Wrapper outer = GENERATE(from_range(kWrappers));
    const std::string scene =
        GENERATE("the wrapper", "the module", "a model with the wrapper",
                 "a model with the module", "a part");
    CAPTURE(name_of(inner), name_of(outer), scene);
    const auto messages = on_ranks(2, [&](dist::ProcessGroup&) {
        nn::Linear net(1, 1, {.bias = false});
        Whole plain(net);
        const auto wrapped =
            wrap(inner, scene == "a part" ? plain : static_cast<nn::Module&>(net));
        Whole with_wrapper(*wrapped);
        return message_of<UsageError>([&] {
            if (scene == "the wrapper") wrap(outer, *wrapped);
            if (scene == "the module" || scene == "a part") wrap(outer, net);
            if (scene == "a model with the wrapper") wrap(outer, with_wrapper);
            if (scene == "a model with the module") wrap(outer, plain);
        });
    });
    for (const std::string& message : messages) {
        CHECK(contains(message, "weight is part of a module that is wrapped already"));
        CHECK(contains(message, "wrap the whole model once"));
    }
}

TEST_CASE("after a second wrapping was refused the first wrapper still averages") {
    const auto gradients = on_ranks(2, [](dist::ProcessGroup& group) {
        nn::Linear shared(1, 1, {.bias = false});
        Whole whole(shared);
        DistributedDataParallel ddp(shared);
        message_of([&] { DistributedDataParallel again(whole); });
        sum(ddp(Tensor::full({1, 1}, group.rank() + 1))).backward();
        DistributedDataParallel of_head(whole.head);  // was not claimed by `again`
        sum(of_head(Tensor::full({1, 1}, group.rank() + 1))).backward();
        return std::pair(shared.weight.grad().item(), whole.head.weight.grad().item());
    });
    for (const auto& seen : gradients) CHECK(seen == std::pair(1.5, 1.5));
}

TEST_CASE("a frozen layer may be part of two wrapped modules") {
    const auto done = on_ranks(2, [](dist::ProcessGroup&) {
        nn::Linear shared(1, 1);
        for (Tensor& parameter : shared.parameters()) parameter.set_requires_grad(false);
        Whole first(shared), second(shared);
        DistributedDataParallel a(first), b(second);
        sum(a(Tensor::ones({1, 1}))).backward();
        sum(b(Tensor::ones({1, 1}))).backward();
        return first.head.weight.grad().item() + second.head.weight.grad().item();
    });
    CHECK(done == std::vector<double>{2, 2});
}

TEST_CASE("a module that differs on one rank is an error on all ranks that names both") {
    struct Case {
        std::function<std::unique_ptr<nn::Module>(bool is_other)> make;
        std::string error;
    };
    const Case each = GENERATE(values<Case>(
        {{[](bool is_other) { return std::make_unique<nn::Linear>(3, is_other ? 5 : 4); },
          "parameter 0 (here weight) is (4, 3) on rank 0, but (5, 3) on rank 1; every "
          "rank must build the same module"},
         {[](bool is_other) {
              return std::make_unique<nn::Linear>(3, 4,
                                                  nn::LinearOptions{.bias = !is_other});
          },
          "rank 0 has 2 parameters that require grad, but rank 1 has 1; "},
         {[](bool is_other) { return std::make_unique<Pair>(is_other, false); },
          "of the parameters that require grad, number 0 is key.weight on rank 0, but "
          "value.weight on rank 1; "},
         {[](bool is_other) { return std::make_unique<Pair>(false, is_other); },
          "of the frozen parameters and buffers, number 0 is mean on rank 0, but count "
          "on rank 1; "},
         {[](bool is_other) { return std::make_unique<FrozenNorm>(is_other ? 4 : 3); },
          "parameter 0 (here norm.weight) is (3,) on rank 0, but (4,) on rank 1; "}}));
    const int ranks = GENERATE(2, 3, 4);
    const Wrapper wrapper = GENERATE(from_range(kWrappers));
    CAPTURE(ranks, name_of(wrapper));
    const auto messages = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto module = each.make(group.rank() == 1);
        return message_of([&] { wrap(wrapper, *module); });
    });
    for (const std::string& message : messages) {
        CAPTURE(message);
        CHECK(message.starts_with("DistributedDataParallel: " + each.error));
    }
}
