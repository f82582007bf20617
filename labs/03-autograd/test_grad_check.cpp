// The checks of lab 03, task 03.6: numerical gradients, and what they find.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "labs/03-autograd/test_support.hpp"
#include "libmini/autograd/grad_check.hpp"

using namespace mini;
using namespace mini::lab03;

namespace {

using Inputs = std::vector<Tensor>;

const Inputs kTwoInputs{Tensor::from(Values{0.5f, -1.5f, 2.0f}),
                        Tensor::from(Values{1.0f, 0.25f, -0.75f})};

// x0 * x1, with a backward function of its own.
std::function<Tensor(const Inputs&)> product_with(
    const std::function<Grads(const Tensor& g, const Tensor& a, const Tensor& b)>&
        grads) {
    return [grads](const Inputs& x) {
        return record(
            "product", ops::mul(x[0], x[1]), {x[0], x[1]},
            [grads, a = SavedTensor(x[0]), b = SavedTensor(x[1])](
                const Tensor& g, const Node&) { return grads(g, a.get(), b.get()); });
    };
}

Tensor scaled(const Tensor& x, float factor) {
    return ops::mul(x, Tensor::scalar(factor));
}

}  // namespace

TEST_CASE("right gradients pass the numerical check", "[lab03][lab03.6]") {
    const auto passes = [](const std::function<Tensor(const Inputs&)>& function,
                           const Inputs& inputs) {
        const GradCheckResult result = grad_check(function, inputs);
        INFO(result.message);
        CHECK(result.ok);
    };
    {
        INFO("the four operations of 03.3");
        passes([](const Inputs& x) { return x[0] * x[1]; }, kTwoInputs);
        passes([](const Inputs& x) { return sigmoid(x[0]); }, {kTwoInputs[0]});
        const Inputs matrices{Tensor::from(Values{1, 2, -1, 0.5f, 0.25f, -2}, {2, 3}),
                              Tensor::from(Values{0.5f, 1, -1, 2, 0.75f, -0.5f}, {3, 2})};
        passes([](const Inputs& x) { return matmul(x[0], x[1]); }, matrices);
        passes([](const Inputs& x) { return linear(x[0], transpose(x[1], 0, 1), x[2]); },
               {matrices[0], matrices[1], Tensor::from(Values{1, -1})});
    }
    {
        INFO("a single number, whose shape is ()");
        passes([](const Inputs& x) { return x[0] * x[0]; }, {Tensor::scalar(1.5f)});
    }
}

TEST_CASE("planted wrong gradients are found", "[lab03][lab03.6]") {
    using Planted = std::function<Grads(const Tensor&, const Tensor&, const Tensor&)>;
    struct Wrong {
        std::string what;
        Planted grads;
        int input;  // the first input whose gradient is wrong
    };
    const std::vector<Wrong> all{
        {"half of the gradient of b",
         [](const Tensor& g, const Tensor& a, const Tensor& b) -> Grads {
             return {ops::mul(g, b), scaled(ops::mul(g, a), 0.5f)};
         },
         1},
        {"the wrong sign for a",
         [](const Tensor& g, const Tensor& a, const Tensor& b) -> Grads {
             return {scaled(ops::mul(g, b), -1.0f), ops::mul(g, a)};
         },
         0},
        {"each factor's gradient has its own value",
         [](const Tensor& g, const Tensor& a, const Tensor& b) -> Grads {
             return {ops::mul(g, a), ops::mul(g, b)};
         },
         0},
        {"g is left out for b",
         [](const Tensor& g, const Tensor& a, const Tensor& b) -> Grads {
             return {ops::mul(g, b), a};
         },
         1},
        {"the gradient of b is 0",
         [](const Tensor& g, const Tensor&, const Tensor& b) -> Grads {
             return {ops::mul(g, b), Tensor::zeros({3})};
         },
         1},
        {"two percent too much for b",
         [](const Tensor& g, const Tensor& a, const Tensor& b) -> Grads {
             return {ops::mul(g, b), scaled(ops::mul(g, a), 1.02f)};
         },
         1}};
    for (const Wrong& wrong : all) {
        const GradCheckResult result = grad_check(product_with(wrong.grads), kTwoInputs);
        INFO("a b with a wrong backward function: " << wrong.what);
        CHECK_FALSE(result.ok);
        INFO("the message: " << result.message);
        CHECK(contains(result.message, concat("input ", wrong.input, ", element 0")));
    }
    INFO("the same with the right one");
    CHECK(grad_check(product_with(
                         [](const Tensor& g, const Tensor& a, const Tensor& b) -> Grads {
                             return {ops::mul(g, b), ops::mul(g, a)};
                         }),
                     kTwoInputs)
              .ok);
}

TEST_CASE("a gradient that is wrong in one element only is found", "[lab03][lab03.6]") {
    const auto function = [](const Inputs& x) {
        return record("doubled", ops::add(x[0], x[0]), {x[0]},
                      [](const Tensor& g, const Node&) -> Grads {
                          return {ops::mul(g, constant({2, 2, 2.1f}))};
                      });
    };
    const GradCheckResult result = grad_check(function, {kTwoInputs[0]});
    INFO("y = 2 x with three elements; the slope of the last one is given as 2.1");
    CHECK_FALSE(result.ok);
    INFO("the message: " << result.message);
    CHECK(contains(result.message, "input 0, element 2: backward() gives"));
}

TEST_CASE("one element changes, up and down by h, and then has its value again",
          "[lab03][lab03.6]") {
    std::vector<Values> seen;
    const auto function = [&](const Inputs& x) {
        Values values = values_of(x[0]);
        for (const float value : values_of(x[1])) values.push_back(value);
        seen.push_back(values);
        return x[0] * x[1];
    };
    const Values start{0.0003f, 0.7f, 3.0f, 0.1f};
    grad_check(function,
               {Tensor::from(Values{0.0003f, 0.7f}), Tensor::from(Values{3, 0.1f})},
               {.step = 0.01, .tolerance = 1.0});
    INFO(
        "the inputs are 0.0003 0.7 and 3 0.1, h = 0.01: the function is called with them "
        "as");
    INFO("they are for backward(), then twice for each of the four elements");
    REQUIRE(seen.size() == 9);
    REQUIRE(seen[0] == start);
    for (size_t k = 0; k < 4; ++k) {
        INFO("element " << k << " of the four, which is " << start[k]);
        const Values &one = seen[1 + 2 * k], &two = seen[2 + 2 * k];
        {
            INFO("the other elements must be as at the start, bit for bit");
            for (size_t i = 0; i < 4; ++i) {
                if (i == k) continue;
                const float change = one[i] - start[i], second = two[i] - start[i];
                INFO("element " << i << " changed by " << change << ", then " << second);
                CHECK((change == 0.0f && second == 0.0f));
            }
        }
        const double x = start[k];
        const float above = std::max(one[k], two[k]) - static_cast<float>(x + 0.01);
        const float below = std::min(one[k], two[k]) - static_cast<float>(x - 0.01);
        INFO("the function was called with " << one[k] << " and " << two[k] << ", which");
        INFO("differ from the floats of x + 0.01 and x - 0.01 by " << above << " and "
                                                                   << below);
        CHECK((above == 0.0f && below == 0.0f));
    }
}

TEST_CASE("the difference is central, so a parabola has no error", "[lab03][lab03.6]") {
    const auto error_of = [](const std::function<Tensor(const Inputs&)>& function) {
        return grad_check(function, {constant({1, 2})}, {.step = 0.5, .tolerance = 1e9})
            .largest_error;
    };
    {
        const double error = error_of([](const Inputs& x) { return x[0] * x[0]; });
        INFO("x² at 1 and 2 with h = 1/2: ((x+h)² - (x-h)²) / 2h is 2x exactly, where");
        INFO("((x+h)² - x²) / h is 2x + h; the error is " << error);
        CHECK(error < 1e-6);
    }
    {
        const double error = error_of([](const Inputs& x) { return x[0] * x[0] * x[0]; });
        INFO(
            "x³: ((x+h)³ - (x-h)³) / 2h is 3x² + h², so with weights from 0.5 to 1.5 "
            "the");
        INFO("error is at least 0.25 * 0.5 / max(1, 3.25 * 0.5) = 0.077 for x = 1; it is "
             << error);
        CHECK(error > 0.05);
        CHECK(error < 0.3);
    }
}

TEST_CASE("the divisor is the distance of the two floats", "[lab03][lab03.6]") {
    const GradCheckResult result = grad_check([](const Inputs& x) { return -x[0]; },
                                              {constant({4096.1f, -9000.3f})});
    INFO(
        "x = 4096.1 and -9000.3: floats there are 0.0005 or 0.001 apart, so x + 0.01 "
        "and");
    INFO("x - 0.01 are rounded, and their distance is not 2 h = 0.02");
    INFO(result.message);
    REQUIRE(result.ok);
    CHECK(result.largest_error < 1e-6);
}

TEST_CASE("an input without a gradient and a NaN are found", "[lab03][lab03.6]") {
    {
        const GradCheckResult result = grad_check(
            product_with([](const Tensor& g, const Tensor&, const Tensor& b) -> Grads {
                return {ops::mul(g, b), Tensor()};
            }),
            kTwoInputs);
        CHECK_FALSE(result.ok);
        CHECK_THAT(result.message, ContainsSubstring("input 1 got no gradient"));
    }
    {
        INFO("log(-1) is NaN: neither gradient is a number, and no comparison is true");
        CHECK_FALSE(
            grad_check([](const Inputs& x) { return log(x[0]); }, {constant({-1.0f})})
                .ok);
    }
}
