#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/container.hpp"
#include "libmini/nn/conv.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains, test::message_of;

namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

Names names_of(const nn::NamedTensors& tensors) {
    Names result;
    for (const auto& [name, tensor] : tensors) result.push_back(name);
    return result;
}

Tensor parameter(const Shape& shape, double value) {
    return Tensor::full(shape, value).set_requires_grad();
}

// Two layers, whose weights may be tied.
class Pair : public nn::Module {
  public:
    explicit Pair(bool is_tied) {
        register_module("encoder", encoder);
        register_module("decoder", decoder);
        if (is_tied) decoder.weight = encoder.weight;
    }
    Tensor forward(const Tensor& x) override { return decoder(encoder(x)); }

    nn::Linear encoder{3, 3, {.bias = false}}, decoder{3, 3, {.bias = false}};
};

// A module with members of its own, and with tensors that are not members.
class Own : public nn::Module {
  public:
    Own() {
        register_parameter("scale", scale);
        register_buffer("count", count);
        register_parameter("later", later);
        kept = &register_parameter("kept", Tensor::full({1}, 4.0));
    }
    Tensor forward(const Tensor& x) override { return x * scale; }

    Tensor scale = Tensor::full({1}, 2.0);
    Tensor count = Tensor::zeros({1});
    Tensor later;
    Tensor* kept;
};

}  // namespace

TEST_CASE("a weight assigned to another layer is one parameter with two names") {
    Pair net(true);
    CHECK(names_of(net.named_parameters()) == Names{"encoder.weight"});
    const auto state = net.state_dict();
    CHECK(names_of(state) == Names{"encoder.weight", "decoder.weight"});
    CHECK(state[0].second.shares_storage(state[1].second));

    // Both uses add to one gradient, and the optimizer trains it once.
    net.encoder.load_state_dict({{"weight", Tensor::ones({3, 3})}});
    optim::SGD optimizer(net.parameters(), {.lr = 0.5});
    sum(net(Tensor::ones({1, 3}))).backward();
    CHECK(net.encoder.weight.grad().to_vector<float>() == Values(9, 6));
    optimizer.step();
    CHECK(net.decoder.weight.to_vector<float>() == Values(9, -2));
    CHECK(ops::equal(state[1].second, net.encoder.weight));
    net.zero_grad();
    CHECK_FALSE(net.decoder.weight.grad().defined());

    // A module with two weights loads the state, and computes the same.
    Pair untied(false);
    untied.load_state_dict(net.state_dict());
    const Tensor x = Tensor::ones({1, 3});
    CHECK(ops::equal(untied(x), net(x)));
    CHECK(untied.parameters().size() == 2);
    net.load_state_dict(untied.state_dict());
    CHECK(net.parameters().size() == 1);
}

TEST_CASE("a parameter assigned after the optimizer is used by the module only") {
    nn::Linear layer(1, 1, {.bias = false});
    const Tensor old = layer.weight;
    optim::SGD optimizer(layer.parameters(), {.lr = 1});
    layer.weight = parameter({1, 1}, 3);
    sum(layer(Tensor::ones({1, 1}))).backward();
    CHECK_FALSE(old.grad().defined());
    optimizer.step();
    CHECK(layer.weight.item() == 3);
    CHECK(layer.parameters().at(0).is_same(layer.weight));
}

TEST_CASE("every parameter and buffer of a layer can be replaced by an assignment") {
    nn::BatchNorm2d norm(2);
    norm.weight = parameter({2}, 5);
    norm.running_mean = Tensor::full({2}, 6.0);
    nn::Conv2d conv(1, 2, 1, {.bias = false});
    conv.bias = parameter({2}, 7);  // the layer had no bias
    nn::Sequential net(conv, norm);
    CHECK(names_of(net.named_parameters()) ==
          Names{"0.weight", "0.bias", "1.weight", "1.bias"});
    CHECK(net.state_dict()[1].second.to_vector<float>() == Values{7, 7});
    CHECK(net.named_buffers()[0].second.is_same(norm.running_mean));
    CHECK(net.state_dict()[4].second.to_vector<float>() == Values{6, 6});

    // Training updates the new running mean: 0.9 * 6 + 0.1 * 7.
    conv.weight = parameter({2, 1, 1, 1}, 0);
    net(Tensor::ones({2, 1, 2, 2}));
    const auto mean = net.named_buffers()[0].second.to_vector<float>();
    CHECK(std::abs(mean[0] - 6.1f) < 1e-5f);

    // An undefined tensor removes the parameter.
    conv.bias = {};
    norm.running_var = {};
    CHECK(names_of(conv.state_dict()) == Names{"weight"});
    CHECK(names_of(norm.named_buffers()) == Names{"running_mean", "num_batches_tracked"});
}

TEST_CASE("members of a user's module are registered by reference") {
    Own module;
    CHECK(names_of(module.state_dict()) == Names{"scale", "kept", "count"});
    module.scale = parameter({1}, 3);
    module.count = Tensor::full({1}, 8.0);
    module.later = parameter({2}, 9);
    *module.kept = parameter({1}, 10);
    const auto state = module.state_dict();
    CHECK(names_of(state) == Names{"scale", "later", "kept", "count"});
    CHECK(state[0].second.item() == 3);
    CHECK(state[2].second.item() == 10);
    CHECK(state[3].second.item() == 8);
    CHECK(module.buffers().at(0).is_same(module.count));
}

TEST_CASE("a tensor that is not a parameter cannot be assigned to one") {
    Pair net(false);
    net.decoder.weight = Tensor::ones({3, 3});
    const std::string message = message_of<UsageError>([&] { net.parameters(); });
    CHECK(contains(message,
                   "the parameter decoder.weight was assigned a tensor of shape "
                   "(3, 3) that does not require grad"));
    CHECK(contains(message, "set_requires_grad()"));
    CHECK_THROWS_AS(net.state_dict(), UsageError);
    CHECK_THROWS_AS(net.named_parameters(), UsageError);
    CHECK_THROWS_AS(net.load_state_dict({}), UsageError);
    CHECK_THROWS_AS(net.to(Device::cpu()), UsageError);
    CHECK_THROWS_AS(net.zero_grad(), UsageError);

    net.decoder.weight = net.encoder.weight * 2.0f;
    CHECK(contains(message_of<UsageError>([&] { net.parameters(); }),
                   "is the result of an operation; assign a leaf"));
    net.decoder.weight = Tensor::ones({3, 3});
    net.decoder.weight.set_requires_grad();
    CHECK(net.parameters().size() == 2);
}

TEST_CASE("a frozen parameter stays a parameter, also in another layer") {
    Pair net(false);
    net.encoder.weight.set_requires_grad(false);
    net.decoder.weight = net.encoder.weight;
    CHECK(net.parameters().size() == 1);
    Tensor mine = parameter({3, 3}, 1);
    net.decoder.weight = mine;
    CHECK(net.parameters().size() == 2);
    mine.set_requires_grad(false);
    CHECK(net.parameters().size() == 2);
}

TEST_CASE("modules can be neither copied nor assigned") {
    CHECK_FALSE(std::is_copy_constructible_v<nn::Linear>);
    CHECK_FALSE(std::is_move_constructible_v<nn::Linear>);
    CHECK_FALSE(std::is_copy_assignable_v<nn::Linear>);
    CHECK_FALSE(std::is_move_assignable_v<nn::Linear>);
    CHECK_FALSE(std::is_assignable_v<nn::Module&, nn::Linear>);
    CHECK_FALSE(std::is_copy_assignable_v<nn::Sequential>);
    CHECK_FALSE(
        std::is_assignable_v<decltype(std::declval<nn::Sequential&>()[0]), nn::Linear>);
}
