// Compares ResNets with torchvision: names, initial values, and one training step.

#include "libmini/vision/resnet.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "tests/nn/golden_fill.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;
using test::distance;

namespace {

constexpr double kGoldenTolerance = 1e-4;

nn::ResNet make(const std::string& name, nn::ResNetOptions options) {
    return name == "resnet18" ? nn::resnet18(options) : nn::resnet50(options);
}

// Returns the smallest ResNet, with one block per layer.
nn::ResNet resnet10(nn::ResNetOptions options) {
    return nn::ResNet(nn::ResNetBlock::kBasic, {1, 1, 1, 1}, options);
}

int64_t parameters_of(const nn::ResNet& net) {
    int64_t count = 0;
    for (const Tensor& parameter : net.parameters()) count += parameter.numel();
    return count;
}

double norm(const Tensor& x) {
    double squares = 0.0;
    const Tensor floats = ops::to(x, DType::kFloat32);
    for (const float value : floats.to_vector<float>())
        squares += double{value} * double{value};
    return std::sqrt(squares);
}

// Returns the elements that make_resnet.py samples.
std::vector<float> samples(const Tensor& x) {
    constexpr size_t kSamples = 3;
    const auto values = x.to_vector<float>();
    if (values.size() == 1) return values;
    std::vector<float> result;
    for (size_t i = 0; i < kSamples; ++i)
        result.push_back(values[values.size() * i / kSamples + i % values.size()]);
    return result;
}

// Compares the norm and some elements of each gradient. The tolerance of an element is
// relative to the larger of the element and the root mean square of the gradient.
void check_gradients(const nn::ResNet& net, const nlohmann::json& expected) {
    size_t i = 0;
    for (const auto& [name, parameter] : net.named_parameters()) {
        CAPTURE(name);
        const double wanted = expected.at(i).at(0);
        CHECK(std::abs(norm(parameter.grad()) - wanted) < kGoldenTolerance * wanted);
        const double rms = wanted / std::sqrt(static_cast<double>(parameter.numel()));
        const auto some = samples(parameter.grad());
        for (size_t j = 0; j < some.size(); ++j) {
            const double element = expected.at(i).at(1).at(j);
            CHECK(std::abs(some[j] - element) <
                  kGoldenTolerance * std::max(std::abs(element), rms));
        }
        ++i;
    }
    CHECK(i == expected.size());
}

}  // namespace

// Names and initial values do not depend on the device, as the tests of nn show.
TEST_CASE("ResNets have torchvision's parameters and buffers in the same order",
          "[large][cpu]") {
    for (const auto& expected : golden_cases("resnet")) {
        const nn::ResNet net = make(expected.at("name"), {});
        const nn::NamedTensors state = net.state_dict();
        REQUIRE(state.size() == expected.at("state").size());
        for (size_t i = 0; i < state.size(); ++i) {
            CAPTURE(i);
            CHECK(state[i].first == expected.at("state").at(i).at(0).get<std::string>());
            CHECK(state[i].second.shape() ==
                  expected.at("state").at(i).at(1).get<Shape>());
        }
        CHECK(parameters_of(net) == expected.at("parameters").get<int64_t>());
    }
}

TEST_CASE("ResNets start from the values of torchvision", "[large][cpu]") {
    for (const auto& expected : golden_cases("resnet_init")) {
        CAPTURE(expected.at("name").dump());
        manual_seed(0);
        const nn::ResNet net = make(expected.at("name"), {.num_classes = 10});
        size_t i = 0;
        for (const auto& [name, tensor] : net.state_dict()) {
            CAPTURE(name);
            const auto& [sum, first] = std::pair(expected.at("state").at(i).at(0),
                                                 expected.at("state").at(i).at(1));
            ++i;
            const Tensor flat = ops::reshape(ops::to(tensor, DType::kFloat32), {-1});
            const int64_t count = std::min<int64_t>(2, flat.numel());
            CHECK(distance(ops::narrow(flat, 0, 0, count), first) < 1e-6);
            // Normal numbers may differ in the last bit if another library rounds the
            // logarithm differently.
            const double error = std::abs(ops::sum(flat).item() - sum.get<double>());
            CHECK(error < 1e-3 * std::max(1.0, norm(flat)));
        }
    }
}

// Compares a training step, and an evaluation after it, with torchvision's numbers.
void check_step(const nlohmann::json& expected) {
    CAPTURE(expected.at("name").dump());
    nn::ResNet net = make(expected.at("name"), {.num_classes = 10});
    test::fill(net);
    const Tensor x = test::noise_tensor(1000, {8, 3, 32, 32});
    const Tensor target = Tensor::from(std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});

    const Tensor scores = net(x);
    CHECK(distance(scores, expected.at("scores")) < kGoldenTolerance);
    const Tensor loss = cross_entropy(scores, target);
    const double wanted = expected.at("loss");
    CHECK(std::abs(loss.item() - wanted) < kGoldenTolerance * wanted);
    loss.backward();
    check_gradients(net, expected.at("gradients"));

    size_t i = 0;
    for (const auto& [name, buffer] : net.named_buffers()) {
        CAPTURE(name);
        const double size = expected.at("buffers").at(i++).at(0);
        CHECK(std::abs(norm(buffer) - size) < kGoldenTolerance * size);
    }
    net.eval();
    CHECK(distance(net(x), expected.at("evaluation")) < kGoldenTolerance);
}

TEST_CASE("a training step of ResNet-18 gives the numbers of torchvision", "[large]") {
    check_step(golden_cases("resnet").at(0));
}

// On the simulator the 53 convolutions take half a minute, and run the kernels of ResNet-18.
TEST_CASE("a training step of ResNet-50 gives the numbers of torchvision",
          "[large][cpu]") {
    check_step(golden_cases("resnet").at(1));
}

TEST_CASE("named_modules lists the modules of modules(), with PyTorch's names", "[cpu]") {
    nn::ResNet net = resnet10({});
    const nn::NamedModules named = net.named_modules();
    std::vector<std::string> names;
    std::vector<nn::Module*> modules;
    for (const auto& [name, module] : named) {
        names.push_back(name);
        modules.push_back(module);
    }
    CHECK(modules == net.modules());
    CHECK(std::vector<std::string>(names.begin(), names.begin() + 6) ==
          std::vector<std::string>{"", "conv1", "bn1", "layer1", "layer1.0",
                                   "layer1.0.conv1"});
    CHECK(names.back() == "fc");
}
