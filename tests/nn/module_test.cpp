// What the checks of labs 04 and 05 leave out.

#include "libmini/nn/module.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/nn/activation.hpp"
#include "libmini/nn/container.hpp"
#include "libmini/nn/evaluation_guard.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/loss.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/nn/pool.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::message_of;

namespace {

// A module with a buffer, and a parameter that is also its layer's weight.
class Tied : public nn::Module {
  public:
    Tied() {
        register_module("first", first);
        register_parameter("scale", Tensor::ones({1}));
        counter = register_buffer("counter", Tensor::zeros({1}, DType::kInt64));
        tied = register_parameter("tied", first.weight);
    }
    Tensor forward(const Tensor& x) override { return x; }

    nn::Linear first{2, 2};
    Tensor counter, tied;
};

std::vector<std::string> names(const nn::NamedTensors& tensors) {
    std::vector<std::string> result;
    for (const auto& [name, tensor] : tensors) result.push_back(name);
    return result;
}

}  // namespace

TEST_CASE(
    "state_dict lists detached tensors and a shared tensor under each of its names") {
    const Tied module;
    const auto state = module.state_dict();
    CHECK(names(state) == std::vector<std::string>{"scale", "tied", "counter",
                                                   "first.weight", "first.bias"});
    for (const auto& [name, tensor] : state) CHECK_FALSE(tensor.requires_grad());
    CHECK(state[1].second.shares_storage(module.first.weight));
}

TEST_CASE("a state_dict can be loaded into another module") {
    manual_seed(1);
    nn::ConvNet from;
    nn::ConvNet into;
    into.load_state_dict(from.state_dict());
    const auto a = from.parameters();
    const auto b = into.parameters();
    for (size_t i = 0; i < a.size(); ++i) {
        CHECK(ops::equal(a[i], b[i]));
        CHECK_FALSE(a[i].shares_storage(b[i]));
        CHECK(b[i].requires_grad());
    }
}

TEST_CASE(
    "load_state_dict rejects a state that does not fit and lists every difference") {
    nn::Linear layer(2, 3);
    const Tensor before = ops::clone(layer.bias);
    const std::string message = message_of([&] {
        layer.load_state_dict(
            {{"bias", Tensor::zeros({4})}, {"other", Tensor::zeros({1})}});
    });
    CHECK(message ==
          "load_state_dict: the state does not fit this module:"
          "\n  missing: weight (3, 2)"
          "\n  bias: the module has float32 (3,), the state float32 (4,)"
          "\n  unexpected: other (1,)");
    CHECK_THROWS_AS(layer.load_state_dict({{"bias", Tensor::zeros({3})}}), Error);
    CHECK(ops::equal(layer.bias, before));
}

TEST_CASE("without strict, names that differ are skipped and returned") {
    nn::Linear layer(2, 3);
    const Tensor before = ops::clone(layer.bias);
    const nn::NamedTensors state{{"other", Tensor::zeros({1})},
                                 {"weight", Tensor::ones({3, 2})}};
    CHECK_THROWS_AS(layer.load_state_dict(state, {.strict = true}), Error);
    const auto keys = layer.load_state_dict(state, {.strict = false});
    CHECK(keys.missing_keys == std::vector<std::string>{"bias"});
    CHECK(keys.unexpected_keys == std::vector<std::string>{"other"});
    CHECK(layer.weight.to_vector<float>() == std::vector<float>(6, 1));
    CHECK(ops::equal(layer.bias, before));
    CHECK(message_of([&] {
              layer.load_state_dict({{"weight", Tensor::ones({3})}}, {.strict = false});
          }).find("weight: the module has") != std::string::npos);
}

TEST_CASE("an EvaluationGuard restores the mode of each module") {
    nn::BatchNorm2d shared(3), frozen(3);
    nn::ReLU relu;
    nn::Sequential inner(shared, frozen);
    nn::Sequential outer(shared, inner, relu);
    frozen.eval();
    {
        const nn::EvaluationGuard guard(outer);
        for (const nn::Module* module : outer.modules())
            CHECK_FALSE(module->is_training());
        CHECK_FALSE(is_grad_enabled());
    }
    CHECK(outer.is_training());
    CHECK(inner.is_training());
    CHECK(shared.is_training());
    CHECK_FALSE(frozen.is_training());

    // A shared module has its own mode, not its parent's.
    shared.eval();
    { const nn::EvaluationGuard guard(outer); }
    CHECK(inner.is_training());
    CHECK_FALSE(shared.is_training());
}

TEST_CASE("an override of train keeps a submodule frozen") {
    struct Frozen : nn::Module {
        Frozen() { register_module("norm", norm); }
        void train(bool training = true) override {
            Module::train(training);
            norm.eval();
        }
        Tensor forward(const Tensor& x) override { return norm(x); }
        nn::BatchNorm2d norm{2};
    };
    Frozen frozen;
    nn::Sequential net(frozen);
    net.train();
    CHECK(frozen.is_training());
    CHECK_FALSE(frozen.norm.is_training());
}

TEST_CASE("zero_grad clears all gradients") {
    nn::Linear layer(2, 1);
    sum(layer(Tensor::ones({1, 2}))).backward();
    CHECK(layer.weight.grad().defined());
    layer.zero_grad();
    CHECK_FALSE(layer.weight.grad().defined());
}

TEST_CASE("names that are already used or empty or contain a dot are rejected") {
    class Bad : public nn::Module {
      public:
        explicit Bad(const std::string& name) {
            register_buffer("taken", Tensor::zeros({1}));
            register_parameter(name, Tensor::zeros({1}));
        }
        Tensor forward(const Tensor& x) override { return x; }
    };
    CHECK_THROWS_AS(Bad("taken"), Error);
    CHECK_THROWS_AS(Bad(""), Error);
    CHECK_THROWS_AS(Bad("a.b"), Error);
    CHECK_NOTHROW(Bad("free"));
}

TEST_CASE("every module returns the same as its function") {
    const Tensor x = Tensor::from(std::vector<float>{-1, 2, 3, -4}, {1, 1, 2, 2});
    CHECK(nn::ReLU()(x).to_vector<float>() == std::vector<float>{0, 2, 3, 0});
    CHECK(nn::MaxPool2d(2)(x).to_vector<float>() == std::vector<float>{3});
    CHECK(nn::Flatten()(x).shape() == Shape{1, 4});
    CHECK(nn::Sigmoid()(Tensor::zeros({1})).item() == 0.5);
    CHECK(nn::Softmax()(Tensor::zeros({1, 4})).to_vector<float>()[3] == 0.25f);
    CHECK(nn::Softmax(0)(Tensor::zeros({2, 4})).to_vector<float>()[7] == 0.5f);
    const Tensor scores = nn::LogSoftmax()(Tensor::zeros({1, 2}));
    const Tensor target = Tensor::from(std::vector<int64_t>{1});
    CHECK(nn::NLLLoss()(scores, target).item() ==
          nn::CrossEntropyLoss()(Tensor::zeros({1, 2}), target).item());
    CHECK(nn::MSELoss{Reduction::kSum}(x, x).item() == 0.0);
    CHECK(nn::BCELoss()(Tensor::ones({1}), Tensor::ones({1})).item() == 0.0);
    CHECK(nn::Conv2d(1, 3, 2, {.stride = 2, .padding = 1, .bias = false})(x).shape() ==
          Shape{1, 3, 2, 2});
}

TEST_CASE(
    "containers construct and own their modules and name each module by its index") {
    nn::Sequential net;
    CHECK(net(Tensor::ones({2})).to_vector<float>() == std::vector<float>{1, 1});
    nn::Linear& first = net.append<nn::Linear>(2, 3);
    net.append<nn::ReLU>();
    net.append<nn::Linear>(3, 1);
    CHECK(names(net.named_parameters()) ==
          std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
    CHECK(net.size() == 3);
    CHECK(&net[0] == &first);

    nn::Sequential inlined(std::make_unique<nn::Linear>(2, 3),
                           std::make_unique<nn::ReLU>(), first);
    CHECK(names(inlined.named_parameters()) ==
          std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
    CHECK(&inlined[2] == &first);
    CHECK(net(Tensor::ones({4, 2})).shape() == Shape{4, 1});

    nn::ModuleList list;
    list.append<nn::Linear>(1, 1);
    list.append<nn::Identity>();
    CHECK(list.size() == 2);
    CHECK(names(list.state_dict()) == std::vector<std::string>{"0.weight", "0.bias"});
    Tensor y = Tensor::ones({1, 1});
    for (nn::Module* const module : list) y = (*module)(y);
    CHECK(y.shape() == Shape{1, 1});
    CHECK_THROWS_AS(list(y), UsageError);
}

TEST_CASE("apply calls children first, and a submodule with two names once") {
    nn::Linear shared(1, 1);
    nn::ReLU relu;
    nn::Sequential inner(shared, relu, shared);
    nn::Sequential outer(inner, shared);
    std::vector<nn::Module*> order;
    outer.apply([&](nn::Module& module) { order.push_back(&module); });
    CHECK(order == std::vector<nn::Module*>{&shared, &relu, &inner, &shared, &outer});
}

TEST_CASE("hooks are called around each forward pass, in the order of registration") {
    nn::Linear first(2, 3), second(3, 1);
    nn::Sequential net(first, second);
    std::vector<std::string> calls;
    const auto before = [&](const char* name) {
        return [&calls, name](const nn::Module&, const Tensor& x) {
            calls.push_back(concat(name, " takes ", x.shape()));
        };
    };
    const auto after = [&](const char* name) {
        return [&calls, name](const nn::Module&, const Tensor& x, const Tensor& y) {
            calls.push_back(concat(name, " maps ", x.shape(), " to ", y.shape()));
        };
    };
    net.register_forward_pre_hook(before("net"));
    net.register_forward_hook(after("net"));
    second.register_forward_hook(after("a"));
    const int removed = second.register_forward_hook(after("b"));
    const int also_removed = first.register_forward_pre_hook(before("c"));
    second.register_forward_hook(after("d"));
    second.remove_hook(removed);
    first.remove_hook(also_removed);
    const Tensor x = Tensor::ones({4, 2});
    const Tensor y = net(x);
    CHECK(calls == std::vector<std::string>{"net takes (4, 2)", "a maps (4, 3) to (4, 1)",
                                            "d maps (4, 3) to (4, 1)",
                                            "net maps (4, 2) to (4, 1)"});
    CHECK(y.to_vector<float>() == net.forward(x).to_vector<float>());
}

TEST_CASE("a hook may remove itself, and add another one for the next call") {
    nn::Linear module(1, 1);
    std::string calls;
    int id = 0;
    id = module.register_forward_hook([&](nn::Module& self, auto&&...) {
        self.remove_hook(id);
        self.register_forward_hook([&calls](auto&&...) { calls += "b"; });
        calls += "a";
    });
    for (int call = 0; call < 2; ++call) module(Tensor::ones({1, 1}));
    CHECK(calls == "ab");
}

TEST_CASE("a module cannot be a submodule of itself or of its submodule") {
    struct Chain : nn::Sequential {
        using nn::Sequential::add;
    } outer, inner;
    CHECK_THROWS_AS(inner.add(inner), Error);
    outer.add(inner);
    CHECK_THROWS_AS(inner.add(outer), Error);
}

TEST_CASE("named_modules gives a module in two places its first name") {
    nn::Linear shared(2, 2);
    nn::Sequential twice(shared, shared);
    CHECK(twice.named_modules("top") ==
          nn::NamedModules{{"top", &twice}, {"top.0", &shared}});
}
