// Reductions, errors, and losses on a GPU. The checks of lab 04 show the values.

#include <cmath>
#include <cstdint>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::message_of;

namespace {

using Values = std::vector<float>;

}  // namespace

TEST_CASE("reductions return the losses or their mean or their sum") {
    const Tensor input = Tensor::from(Values{1, 2, 3, 4});
    const Tensor target = Tensor::from(Values{1, 1, 1, 1});
    CHECK(mse_loss(input, target, Reduction::kNone).to_vector<float>() ==
          Values{0, 1, 4, 9});
    CHECK(mse_loss(input, target).item() == 3.5);
    CHECK(mse_loss(input, target, Reduction::kSum).item() == 14.0);
}

TEST_CASE("binary_cross_entropy has gradients of the input and of the target") {
    const Tensor p = Tensor::from(Values{0.25f, 0, 1, 0.7f}).set_requires_grad();
    const Tensor t = Tensor::from(Values{0.5f, 0.5f, 0.5f, 1}).set_requires_grad();
    binary_cross_entropy(p, t, Reduction::kSum).backward();
    // dL/dt = log(1 - p) - log p, infinite at 0 and 1 as in PyTorch.
    const auto slope = t.grad().to_vector<float>();
    CHECK(std::abs(slope[0] - std::log(3.0f)) < 1e-6f);
    CHECK(slope[1] == INFINITY);
    CHECK(slope[2] == -INFINITY);
    CHECK(std::abs(slope[3] + 0.84729786f) < 1e-6f);
    CHECK(std::abs(p.grad().to_vector<float>()[0] + 4.0f / 3) < 1e-5f);

    const Tensor only = Tensor::from(Values{0.5f}).set_requires_grad();
    binary_cross_entropy(Tensor::full({1}, 0.25), only).backward();
    CHECK(std::abs(only.grad().item() - std::log(3.0)) < 1e-6);
}

TEST_CASE("on a GPU the loss of a target that is not a class is NaN") {
    if (cuda_device_count() == 0) return;
    const Device gpu = Device::cuda();
    const Tensor scores = Tensor::zeros({3, 3}, DType::kFloat32, gpu);
    const Tensor target = Tensor::from(std::vector<int64_t>{0, 3, -1}, {3}, gpu);
    const Values losses =
        cross_entropy(scores, target, Reduction::kNone).to_vector<float>();
    CHECK(std::abs(losses[0] - std::log(3.0f)) < 1e-6f);
    CHECK(std::isnan(losses[1]));
    CHECK(std::isnan(losses[2]));
}

TEST_CASE("on a GPU the loss of an input that is not a probability is NaN") {
    if (cuda_device_count() == 0) return;
    const Device gpu = Device::cuda();
    const Tensor p = Tensor::from(Values{1, 1.5f, -0.5f}, {3}, gpu);
    const Tensor t = Tensor::from(Values{1, 1, 0}, {3}, gpu);
    const Values losses = binary_cross_entropy(p, t, Reduction::kNone).to_vector<float>();
    CHECK(losses[0] == 0.0f);
    CHECK(std::isnan(losses[1]));
    CHECK(std::isnan(losses[2]));
}

TEST_CASE("the error message names a target that is not a class and its position",
          "[cpu]") {
    const Tensor scores = Tensor::zeros({2, 3});
    CHECK(message_of([&] {
              cross_entropy(scores, Tensor::from(std::vector<int64_t>{0, 3}));
          }) == "nll_loss: target 3 at position 1 is not a class; there are 3");
    CHECK_THROWS_AS(cross_entropy(scores, Tensor::from(std::vector<int64_t>{-1, 0})),
                    Error);
    CHECK_THROWS_AS(cross_entropy(scores, Tensor::from(std::vector<int64_t>{0})),
                    ShapeError);
    CHECK_THROWS_AS(cross_entropy(scores, Tensor::zeros({2})), ShapeError);
}

TEST_CASE("binary_cross_entropy throws for an input that is not a probability", "[cpu]") {
    const Tensor t = Tensor::from(Values{0, 1});
    CHECK(message_of([&] {
              binary_cross_entropy(Tensor::from(Values{0.5f, 1.5f}), t);
          }) ==
          "binary_cross_entropy: the input 1.5 at position 1 is not a probability; apply "
          "sigmoid first");
    const float nan = std::nanf("");
    CHECK_THROWS_AS(binary_cross_entropy(Tensor::from(Values{nan, 0}), t), Error);
}

TEST_CASE("binary_cross_entropy throws for a target outside of 0 to 1", "[cpu]") {
    // With the classes numbered 1 and 2, the loss would fall below zero without end.
    const Tensor p = Tensor::from(Values{0.5f, 0.5f});
    CHECK(message_of([&] {
              binary_cross_entropy(p, Tensor::from(Values{1, 2}));
          }) ==
          "binary_cross_entropy: the target 2 at position 1 is not a probability; number "
          "the two classes 0 and 1");
    const float nan = std::nanf("");
    CHECK_THROWS_AS(binary_cross_entropy(p, Tensor::from(Values{-1, 1})), Error);
    CHECK_THROWS_AS(binary_cross_entropy(p, Tensor::from(Values{nan, 1})), Error);
}
