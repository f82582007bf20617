// The checks of lab 05, task 05.5: the whole network.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"

using namespace mini;
using namespace mini::lab05;

namespace {

// The parameters of the network, by name.
Tensor parameter(const nn::Module& net, const std::string& name) {
    for (const auto& [full_name, tensor] : net.named_parameters())
        if (full_name == name) return tensor;
    FAIL("the network has no parameter " << name);
    return {};
}

// The tutorial's forward pass, from functions and from the parameters of `net`.
Tensor tutorial(const nn::Module& net, const Tensor& x, bool training) {
    const auto of = [&](const char* name) { return parameter(net, name); };
    Tensor y = conv2d(x, of("conv1.weight"), of("conv1.bias"));
    y = relu(max_pool2d(y, 2));
    y = dropout2d(conv2d(y, of("conv2.weight"), of("conv2.bias")), 0.5, training);
    y = relu(max_pool2d(y, 2));
    y = relu(linear(view(y, {-1, 320}), of("fc1.weight"), of("fc1.bias")));
    return linear(dropout(y, 0.5, training), of("fc2.weight"), of("fc2.bias"));
}

// The images and classes of PyTorch's reference numbers: pixel k of batch 0 is
// ((7919 k) mod 256) / 255, then normalised.
struct Batch {
    Tensor images, classes;
};

Batch batch(int64_t number, int64_t size) {
    Values pixels;
    std::vector<int64_t> classes;
    for (int64_t i = number * size * 784; i < (number + 1) * size * 784; ++i)
        pixels.push_back((static_cast<float>(7919 * i % 256) / 255.0f - 0.1307f) /
                         0.3081f);
    for (int64_t i = number * size; i < (number + 1) * size; ++i)
        classes.push_back(3 * i % 10);
    return {Tensor::from(pixels, {size, 1, 28, 28}), Tensor::from(classes)};
}

}  // namespace

TEST_CASE("the ConvNet's parameters have the tutorial's names and shapes",
          "[lab05][lab05.5]") {
    const nn::ConvNet net;
    std::string got;
    int64_t numbers = 0;
    for (const auto& [name, tensor] : net.named_parameters()) {
        got += concat(name, " ", tensor.shape(), "\n");
        numbers += tensor.numel();
    }
    INFO(
        "PyTorch lists a module's parameters in the order of registration; a layer that");
    INFO("is not registered is not trained; the network has\n" << got);
    CHECK(got ==
          "conv1.weight (10, 1, 5, 5)\nconv1.bias (10,)\n"
          "conv2.weight (20, 10, 5, 5)\nconv2.bias (20,)\n"
          "fc1.weight (50, 320)\nfc1.bias (50,)\nfc2.weight (10, 50)\nfc2.bias (10,)\n");
    CHECK(numbers == 21840);
}

TEST_CASE("train and eval reach the two dropouts", "[lab05][lab05.5]") {
    nn::ConvNet net;
    INFO("the network itself, conv1, conv2, conv2_drop, fc1, fc1_drop, fc2: 7 modules;");
    INFO("a dropout that is not registered always stays in training mode");
    CHECK(net.modules().size() == 7);
    net.eval();
    for (const nn::Module* module : net.modules()) CHECK(!module->is_training());
}

TEST_CASE("in evaluation the ConvNet computes the tutorial's scores",
          "[lab05][lab05.5]") {
    manual_seed(1);
    nn::ConvNet net;
    net.eval();
    const Tensor x = batch(0, 3).images;
    const Tensor y = net(x);
    INFO("three images; the scores should be those of conv1, max_pool2d, relu, conv2,");
    INFO("max_pool2d, relu, fc1, relu, fc2: scores, with no function after fc2");
    REQUIRE(y.shape() == Shape{3, 10});
    check_equal("scores", y.to_vector<float>(),
                tutorial(net, x, false).to_vector<float>(), y.shape());
}

TEST_CASE("in training the two dropouts draw in the tutorial's order",
          "[lab05][lab05.5]") {
    manual_seed(1);
    nn::ConvNet net;
    const Tensor x = batch(0, 3).images;
    manual_seed(7);
    const Tensor y = net(x);
    manual_seed(7);
    const Tensor expected = tutorial(net, x, true);
    INFO("dropout2d on the channels of conv2, dropout on the 50 outputs of fc1, both");
    INFO("with p = 0.5");
    REQUIRE(y.shape() == Shape{3, 10});
    check_equal("scores", y.to_vector<float>(), expected.to_vector<float>(), y.shape());
}

TEST_CASE("without dropout the ConvNet draws nothing", "[lab05][lab05.5]") {
    nn::ConvNet net({.dropout = false});
    const Tensor x = batch(0, 2).images;
    manual_seed(7);
    const Values first = net(x).to_vector<float>();
    const uint64_t next = default_generator().random64();
    manual_seed(7);
    CHECK(next == default_generator().random64());
    CHECK(first == net(x).to_vector<float>());
}

TEST_CASE("every parameter gets a gradient", "[lab05][lab05.5]") {
    manual_seed(1);
    nn::ConvNet net;
    const Batch of = batch(0, 4);
    cross_entropy(net(of.images), of.classes).backward();
    for (const auto& [name, tensor] : net.named_parameters()) {
        INFO(name << " has no gradient, so it had no part in the loss");
        CHECK(tensor.grad().defined());
    }
}

TEST_CASE("three steps of the ConvNet have the losses of PyTorch", "[lab05][lab05.5]") {
    manual_seed(1234);
    nn::ConvNet net;
    optim::SGD optimizer(net.parameters(), {.lr = 0.01, .momentum = 0.5});
    const std::vector<double> expected = {2.308820962905884, 2.3047351837158203,
                                          2.2886171340942383};
    for (int64_t step = 0; step < 3; ++step) {
        const Batch of = batch(step, 32);
        optimizer.zero_grad();
        const Tensor loss = cross_entropy(net(of.images), of.classes);
        loss.backward();
        optimizer.step();
        const double wanted = expected[static_cast<size_t>(step)];
        INFO(
            "seed 1234, batches of 32, SGD with lr 0.01 and momentum 0.5; the loss of "
            "step "
            << step + 1 << " is " << wanted << " in PyTorch, and " << loss.item()
            << " here");
        CHECK(std::abs(loss.item() - wanted) < 1e-5 * wanted);
    }
}
