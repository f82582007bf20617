// The checks of lab 03, task 03.3: four backward functions, without the engine.

#include <cmath>
#include <limits>
#include <string>

#include "labs/03-autograd/test_support.hpp"

using namespace mini;
using namespace mini::lab03;

namespace {

// Returns the gradients that the node of `y` computes from `g`, which must not change.
Grads gradients(const Tensor& y, const Values& g) {
    const Tensor gradient = Tensor::from(g, y.shape());
    Grads grads = node_of(y)->apply(gradient);
    INFO(
        "the backward function changed its argument g in place; other nodes use it, too");
    REQUIRE(values_of(gradient) == g);
    REQUIRE(grads.size() == node_of(y)->inputs().size());
    return grads;
}

}  // namespace

// ---- mul

TEST_CASE("mul: each factor gets the gradient times the other factor",
          "[lab03][lab03.3]") {
    const Tensor a = leaf({2, 3}), b = leaf({5, 7});
    const Grads grads = gradients(mul(a, b), {1, 10});
    INFO("a = 2 3, b = 5 7, g = 1 10");
    INFO("mul gives " << in_words(grads[0]) << " for a, and " << in_words(grads[1])
                      << " for b");
    CHECK(values_of(grads[0]) == Values{5, 70});
    CHECK(values_of(grads[1]) == Values{2, 30});
}

TEST_CASE("mul: a factor that was broadcast gets the sum over its uses",
          "[lab03][lab03.3]") {
    const Tensor a = leaf({1, 2, 3, 4, 5, 6}, {2, 3}), row = leaf({10, 20, 30}),
                 column = leaf({10, 20}, {2, 1});
    {
        const Grads grads = gradients(mul(a, row), {1, 1, 1, 1, 1, 1});
        INFO("a is (2, 3), the row is (3,), and each of its elements is used twice");
        REQUIRE(grads[1].shape() == Shape{3});
        CHECK(values_of(grads[1]) == Values{5, 7, 9});
        REQUIRE(grads[0].shape() == Shape{2, 3});
        CHECK(values_of(grads[0]) == Values{10, 20, 30, 10, 20, 30});
    }
    {
        const Grads grads = gradients(mul(column, a), {1, 1, 1, 1, 1, 1});
        INFO("the column is (2, 1), and each of its elements is used three times");
        REQUIRE(grads[0].shape() == Shape{2, 1});
        CHECK(values_of(grads[0]) == Values{6, 15});
        CHECK(values_of(grads[1]) == Values{10, 10, 10, 20, 20, 20});
    }
    {
        const Tensor number = leaf({3}, {});
        const Grads grads = gradients(mul(number, a), {1, 0, 0, 0, 0, 1});
        INFO("a number is used six times; g is 1 0 0 0 0 1, a is 1 2 3 4 5 6");
        REQUIRE(grads[0].shape() == Shape{});
        CHECK(values_of(grads[0]) == Values{7});
    }
}

TEST_CASE("mul: the other factor may need no gradient", "[lab03][lab03.3]") {
    const Tensor w = leaf({2, 3}), data = constant({5, 7});
    INFO("w = 2 3 requires grad, data = 5 7 does not, g = 1 10");
    CHECK(values_of(gradients(mul(w, data), {1, 10})[0]) == Values{5, 70});
    CHECK(values_of(gradients(mul(data, w), {1, 10})[1]) == Values{5, 70});
}

TEST_CASE("mul: a factor that was changed in place is an error", "[lab03][lab03.3]") {
    const Tensor a = leaf({2, 3});
    const Tensor y = mul(a, leaf({5, 7}));
    Tensor values = a.detach();
    ops::fill_(values, 100.0f);
    const std::string message = message_of([&] { node_of(y)->apply(constant({1, 1})); });
    INFO(
        "a was 2 3 in y = a b, and was then filled with 100; a.get() of the saved "
        "tensor");
    INFO("throws; the message: " << message);
    CHECK(contains(message, "changed in place"));
}

// ---- sigmoid

TEST_CASE("sigmoid: the slope is y (1 - y)", "[lab03][lab03.3]") {
    const Tensor x = leaf({0, std::log(3.0f), -std::log(3.0f)});
    const Tensor y = sigmoid(x);
    const Values before = values_of(y);
    const Grads grads = gradients(y, {8, 16, 16});
    INFO(
        "x = 0, ln 3, -ln 3: y = 0.5, 0.75, 0.25, so the slope is 0.25, 0.1875, 0.1875;");
    INFO("g = 8 16 16, and the gradient should be 2 3 3; it is " << in_words(grads[0]));
    const Values got = values_of(grads[0]);
    REQUIRE(got.size() == 3);
    const Values expected{2, 3, 3};
    for (size_t i = 0; i < 3; ++i) CHECK(got[i] == about(expected[i], 1e-5));
    INFO("the saved y is the program's y, which the backward function must not change");
    CHECK(values_of(y) == before);
}

TEST_CASE("sigmoid: the gradient far from 0 is 0 and not NaN", "[lab03][lab03.3]") {
    const Tensor x = leaf({100, -100});
    const Grads grads = gradients(sigmoid(x), {1, 1});
    INFO("x = 100 and -100, where exp(-x) is 0 or infinite in float: use the result y");
    INFO("the gradient is " << in_words(grads[0]));
    for (const float value : values_of(grads[0])) CHECK(std::abs(value) < 1e-30f);
}

// ---- matmul

TEST_CASE("matmul: dL/da = g bᵀ and dL/db = aᵀ g", "[lab03][lab03.3]") {
    const Tensor a = leaf({1, 2, 3, 4, 5, 6}, {2, 3}),
                 b = leaf({1, 0, 2, 1, 0, 3}, {3, 2});
    const Grads grads = gradients(matmul(a, b), {1, 0, 0, 10});
    INFO(
        "a (2, 3) is 1 2 3 | 4 5 6, b (3, 2) is 1 0 | 2 1 | 0 3, g (2, 2) is 1 0 | 0 10");
    REQUIRE(grads[0].shape() == Shape{2, 3});
    CHECK(values_of(grads[0]) == Values{1, 2, 0, 0, 10, 30});
    REQUIRE(grads[1].shape() == Shape{3, 2});
    CHECK(values_of(grads[1]) == Values{1, 40, 2, 50, 3, 60});
}

TEST_CASE("matmul: square matrices are not mixed up", "[lab03][lab03.3]") {
    const Tensor a = leaf({1, 2, 3, 4}, {2, 2}), b = leaf({5, 6, 7, 8}, {2, 2});
    const Grads grads = gradients(matmul(a, b), {1, 10, 100, 1000});
    INFO("all shapes are (2, 2), so a wrong product has the right shape:");
    INFO("a is 1 2 | 3 4, b is 5 6 | 7 8, g is 1 10 | 100 1000");
    CHECK(values_of(grads[0]) == Values{65, 87, 6500, 8700});
    CHECK(values_of(grads[1]) == Values{301, 3010, 402, 4020});
    {
        INFO("only b requires grad");
        const Tensor data = constant({1, 2, 3, 4});
        const Grads of =
            gradients(matmul(ops::view(data, {2, 2}), b), {1, 10, 100, 1000});
        CHECK(values_of(of[1]) == Values{301, 3010, 402, 4020});
    }
}

// ---- linear

TEST_CASE("linear: the gradients of bias, x and w in this order", "[lab03][lab03.3]") {
    const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {3, 2}),
                 w = leaf({1, 0, 2, 1, 0, 3, 1, 1}, {4, 2}), bias = leaf({0, 0, 0, 0});
    const Values g{1, 0, 0, 0, 0, 10, 0, 0, 0, 0, 100, 1};
    const Grads grads = gradients(linear(x, w, bias), g);
    INFO(
        "N = 3 rows, 2 inputs, 4 outputs: x is 1 2 | 3 4 | 5 6, w (4, 2) is 1 0 | 2 1 |");
    INFO("0 3 | 1 1, g (3, 4) is 1 0 0 0 | 0 10 0 0 | 0 0 100 1");
    INFO("the node's inputs are bias, x, w");
    {
        INFO("the bias is added to each row: its gradient is the sum of g over the rows");
        REQUIRE(grads[0].defined());
        REQUIRE(grads[0].shape() == Shape{4});
        CHECK(values_of(grads[0]) == Values{1, 10, 100, 1});
    }
    {
        INFO("dL/dx = g w");
        REQUIRE(grads[1].shape() == Shape{3, 2});
        CHECK(values_of(grads[1]) == Values{1, 0, 20, 10, 1, 301});
    }
    {
        INFO("dL/dw = gᵀ x");
        REQUIRE(grads[2].shape() == Shape{4, 2});
        CHECK(values_of(grads[2]) == Values{1, 2, 30, 40, 500, 600, 5, 6});
    }
}

TEST_CASE("linear: with as many rows as inputs and outputs, and without a bias",
          "[lab03][lab03.3]") {
    const Tensor x = leaf({1, 2, 3, 4}, {2, 2}), w = leaf({5, 6, 7, 8}, {2, 2});
    const Grads grads = gradients(linear(x, w), {1, 10, 100, 1000});
    INFO(
        "all shapes are (2, 2), so a wrong product has the right shape; there is no "
        "bias");
    CHECK_FALSE(node_of(linear(x, w))->needs_input_grad(0));
    CHECK(values_of(grads[1]) == Values{75, 86, 7500, 8600});
    CHECK(values_of(grads[2]) == Values{301, 402, 3010, 4020});

    const Tensor bias = leaf({0, 0});
    const Grads all = gradients(linear(x, w, bias), {1, 10, 100, 1000});
    INFO("with a bias: the sums over the rows, 1 + 100 and 10 + 1000");
    CHECK(values_of(all[0]) == Values{101, 1010});
}
