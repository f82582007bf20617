// The checks of lab 04, task 04.6: a network and its training.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labs/04-modules-losses-sgd/fit.hpp"
#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using labs::Values;

namespace {

// Points of two numbers around four corners: 0 and 1, for corners on one diagonal and on
// the other. No single line divides the classes.
std::shared_ptr<data::TensorDataset> corners(int64_t n) {
    Generator generator(3);
    std::vector<float> noise(static_cast<size_t>(2 * n));
    fill_normal(noise, 0, 0.2, generator);
    std::vector<int64_t> target;
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        const bool right = i % 2 == 1, top = i / 2 % 2 == 1;
        noise[2 * i] += right ? 1.0f : -1.0f;
        noise[2 * i + 1] += top ? 1.0f : -1.0f;
        target.push_back(right == top ? 1 : 0);
    }
    return std::make_shared<data::TensorDataset>(Tensor::from(noise, {n, 2}),
                                                 Tensor::from(target));
}

// Scores by the first number of a row; counts its calls in each mode.
class Counted : public nn::Module {
  public:
    Counted() : w(register_parameter("w", Tensor::from(Values{1, -1}, {1, 2}))) {}
    Tensor forward(const Tensor& x) override {
        (is_training() ? in_training : in_evaluation) += 1;
        return matmul(x, w);
    }
    Tensor w;
    int in_training = 0, in_evaluation = 0;
};

std::shared_ptr<data::TensorDataset> rows(const Values& x,
                                          const std::vector<int64_t>& target) {
    return std::make_shared<data::TensorDataset>(
        Tensor::from(x, {static_cast<int64_t>(x.size()), 1}), Tensor::from(target));
}

}  // namespace

TEST_CASE("the network's parameters have the names of its layers", "[lab04][lab04.6]") {
    fit::TwoLayers model(6, 4, 3);
    std::vector<std::string> names, modules;
    for (const auto& [name, tensor] : model.named_parameters())
        names.push_back(concat(name, " ", tensor.shape()));
    INFO("a module that is not registered is not trained, saved or moved");
    CHECK(names == std::vector<std::string>{"fc1.weight (4, 6)", "fc1.bias (4,)",
                                            "fc2.weight (3, 4)", "fc2.bias (3,)"});
    for (const auto& [name, module] : model.named_modules()) modules.push_back(name);
    INFO("the network itself, and its modules in the order of fit.hpp");
    CHECK(modules == std::vector<std::string>{"", "fc1", "drop", "fc2"});
}

TEST_CASE("the network is fc1, relu, dropout, fc2", "[lab04][lab04.6]") {
    manual_seed(5);
    fit::TwoLayers model(6, 4, 3, 0.5);
    const std::vector<Tensor> p = model.parameters();
    REQUIRE(p.size() == 4);
    const Tensor x =
        Tensor::from(Values{1, -2, 3, -4, 5, -6, 6, 5, 4, 3, 2, 1}, {2, 2, 3});
    model.eval();
    const Tensor hidden = relu(linear(reshape(x, {2, 6}), p[0], p[1]));
    INFO("in evaluation mode, two images of 2 by 3 numbers");
    CHECK(model(x).to_vector<float>() == linear(hidden, p[2], p[3]).to_vector<float>());

    model.train();
    manual_seed(6);
    const Values got = model(x).to_vector<float>();
    manual_seed(6);
    const Tensor dropped = dropout(hidden, 0.5, true);
    INFO("in training mode, dropout acts on the hidden numbers, after the relu");
    CHECK(got == linear(dropped, p[2], p[3]).to_vector<float>());
}

TEST_CASE("every step uses the gradient of its own batch", "[lab04][lab04.6]") {
    Counted model;
    optim::SGD optimizer({model.w}, {.lr = 1});
    data::DataLoader loader(rows({1, 1, 1, 1}, {0, 0, 0, 0}), {.batch_size = 2});
    sum(model.w).backward();  // an old gradient, of another loss
    fit::train_epoch(model, loader, optimizer);

    // By hand: the scores are w0 and w1, the gradient of the loss is softmax - (1, 0).
    double w0 = 1, w1 = -1;
    for (int step = 0; step < 2; ++step) {
        const double p1 = 1 / (1 + std::exp(w0 - w1));
        w0 += p1;
        w1 -= p1;
    }
    const Values w = model.w.to_vector<float>();
    INFO("w = (1, -1), x = 1, target 0, lr 1, two batches; an old gradient was there");
    INFO("expected w = (" << w0 << ", " << w1 << "), yours (" << w[0] << ", " << w[1]
                          << ")");
    CHECK(w[0] == Approx(w0));
    CHECK(w[1] == Approx(w1));
}

TEST_CASE("the epoch's loss is the mean over samples, before the steps",
          "[lab04][lab04.6]") {
    Counted model;
    optim::SGD optimizer({model.w}, {.lr = 0});
    data::DataLoader loader(rows({0, 0, 10}, {0, 0, 1}), {.batch_size = 2});
    const double loss = fit::train_epoch(model, loader, optimizer);
    INFO(
        "three samples in batches of 2 and 1: losses log 2, log 2 and 20; the mean over "
        "batches, "
        << (std::log(2.0) + 20) / 2 << ", would count the last sample twice");
    CHECK(loss == Approx((2 * std::log(2.0) + 20) / 3));
}

TEST_CASE("training is in training mode, evaluation is not and restores the mode",
          "[lab04][lab04.6]") {
    Counted model;
    optim::SGD optimizer({model.w}, {.lr = 0.1});
    data::DataLoader loader(rows({1, -1, 2}, {0, 0, 0}), {.batch_size = 2});
    model.eval();
    fit::train_epoch(model, loader, optimizer);
    INFO("train_epoch of two batches; the model was in evaluation mode before");
    CHECK(model.in_training == 2);
    CHECK(model.in_evaluation == 0);
    CHECK(model.is_training());

    model.train();
    fit::accuracy(model, loader);
    INFO("accuracy of the same batches");
    CHECK(model.in_evaluation == 2);
    CHECK(model.in_training == 2);
    CHECK(model.is_training());
    model.eval();
    fit::accuracy(model, loader);
    INFO("a model in evaluation mode stays in it");
    CHECK(!model.is_training());
}

TEST_CASE("accuracy is a share of the samples", "[lab04][lab04.6]") {
    Counted model;
    data::DataLoader loader(rows({1, -1, 2, 3, 4}, {0, 0, 0, 0, 1}), {.batch_size = 2});
    INFO(
        "a positive x gets class 0, a negative x class 1: 3 of 5 are correct; the mean "
        "of the batches' shares, 0.5, 1 and 0, would be 0.5");
    CHECK(fit::accuracy(model, loader) == Approx(0.6));
}

TEST_CASE("accuracy compares all classes", "[lab04][lab04.6]") {
    struct Identity : nn::Module {
        Tensor forward(const Tensor& x) override { return x; }
    } model;
    const Tensor scores =
        Tensor::from(Values{1, 3, 2, 5, 0, 0, 0, 1, 9, 4, 5, 6}, {4, 3});
    data::DataLoader loader(std::make_shared<data::TensorDataset>(
                                scores, Tensor::from(std::vector<int64_t>{1, 0, 2, 0})),
                            {.batch_size = 4});
    INFO("the scores 1 3 2, 5 0 0, 0 1 9 and 4 5 6 of targets 1, 0, 2 and 0: 3 of 4");
    CHECK(fit::accuracy(model, loader) == Approx(0.75));
}

TEST_CASE("the network learns what no linear layer can", "[lab04][lab04.6]") {
    manual_seed(7);
    fit::TwoLayers model(2, 16, 2, 0.1);
    optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
    data::DataLoader loader(corners(200), {.batch_size = 20, .shuffle = true});
    const double first = fit::train_epoch(model, loader, optimizer);
    double last = first;
    for (int epoch = 1; epoch < 15; ++epoch)
        last = fit::train_epoch(model, loader, optimizer);
    const double share = fit::accuracy(model, loader);
    INFO("15 epochs on four corners: loss " << first << " -> " << last << ", accuracy "
                                            << share);
    CHECK(last < 0.1);
    CHECK(share > 0.98);
}
