#include "libmini/optim/sgd.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/optim/adam.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;

namespace {

// Returns the message of the UsageError that SGD throws for these options, or "" if SGD
// accepts them.
std::string sgd_error(const optim::SGDOptions& options) {
    const Tensor p = Tensor::ones({1}).set_requires_grad();
    return test::message_of<UsageError>([&] { optim::SGD({p}, options); });
}

}  // namespace

TEST_CASE("an optimizer that is given a parameter twice throws and names both indices") {
    const Tensor w = Tensor::ones({2}).set_requires_grad();
    const Tensor other = Tensor::ones({1}).set_requires_grad();
    const std::vector<Tensor> list{other, w, Tensor(other.detach()), w};
    const std::string message =
        "optimizer: parameter 3 of shape (2,) is the same tensor as parameter 1; pass "
        "each "
        "once, as Module::parameters() returns them";
    CHECK(test::message_of<UsageError>([&] { optim::SGD(list, {.lr = 0.1}); }) ==
          message);
    CHECK(test::message_of<UsageError>([&] { optim::Adam(list, {.lr = 0.1}); }) ==
          message);
    CHECK(test::message_of<UsageError>([&] { optim::AdamW(list, {.lr = 0.1}); }) ==
          message);
    CHECK_NOTHROW(optim::SGD({w, other}, {.lr = 0.1}));
}

TEST_CASE(
    "SGD takes PyTorch's steps with momentum and dampening and weight decay and "
    "nesterov") {
    const nlohmann::json cases = golden_cases("sgd");
    CHECK(cases.size() == 5);
    for (const auto& expected : cases) {
        const auto& given = expected.at("options");
        CAPTURE(given.dump());
        std::vector<float> start;
        for (int i = 0; i < 7; ++i)
            start.push_back(-1.0f + static_cast<float>(i) * (2.0f / 6.0f));
        Tensor p = Tensor::from(start).set_requires_grad();
        optim::SGD optimizer({p}, {.lr = given.at("lr"),
                                   .momentum = given.value("momentum", 0.0),
                                   .dampening = given.value("dampening", 0.0),
                                   .weight_decay = given.value("weight_decay", 0.0),
                                   .nesterov = given.value("nesterov", false)});
        for (int t = 0; t < 5; ++t) {
            std::vector<float> grad = p.to_vector<float>();
            for (int i = 0; i < 7; ++i) {
                float& value = grad[static_cast<size_t>(i)];
                value = static_cast<float>(std::sin(i + t)) + value / 2;
            }
            p.set_grad(Tensor::from(grad));
            optimizer.step();
            const std::vector<float> now = p.to_vector<float>();
            for (int i = 0; i < 7; ++i) {
                // A few float32 rounding errors for values of order one.
                const double wanted = expected.at(
                    "parameters")[static_cast<size_t>(t)][static_cast<size_t>(i)];
                CHECK(std::abs(now[static_cast<size_t>(i)] - wanted) < 2e-6);
            }
        }
    }
}

TEST_CASE("a parameter without a gradient does not change") {
    const Tensor moved = Tensor::ones({1}).set_requires_grad();
    const Tensor still = Tensor::ones({1}).set_requires_grad();
    optim::SGD optimizer({moved, still}, {.lr = 0.5, .momentum = 0.9});
    sum(moved * 1.0f).backward();
    optimizer.step();
    CHECK(moved.item() == 0.5);
    CHECK(still.item() == 1.0);
}

TEST_CASE("zero_grad makes every gradient undefined") {
    const Tensor a = Tensor::ones({1}).set_requires_grad();
    const Tensor b = Tensor::ones({2}).set_requires_grad();
    optim::SGD optimizer({a, b}, {.lr = 0.5});
    (sum(a) + sum(b)).backward();
    REQUIRE((a.grad().defined() && b.grad().defined()));
    optimizer.zero_grad();
    CHECK((!a.grad().defined() && !b.grad().defined()));
}

TEST_CASE("an SGD step is an in-place change of its parameters") {
    Tensor p = Tensor::ones({1}).set_requires_grad();
    optim::SGD optimizer({p}, {.lr = 0.5});
    const Tensor loss = sum(p * p);
    p.set_grad(Tensor::ones({1}));
    optimizer.step();
    CHECK_THROWS_AS(loss.backward(), Error);
}

TEST_CASE(
    "SGD rejects a negative or infinite or NaN option and names it with its value") {
    CHECK(sgd_error({.lr = -0.5}) == "SGD: lr must not be negative, but is -0.5");
    CHECK(sgd_error({.momentum = -1}) == "SGD: momentum must not be negative, but is -1");
    CHECK(sgd_error({.weight_decay = -0.25}) ==
          "SGD: weight_decay must not be negative, but is -0.25");
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(sgd_error({.lr = infinity}) == "SGD: lr must be finite, but is inf");
    CHECK(sgd_error({.lr = std::nan("")}) == "SGD: lr must be finite, but is nan");
    CHECK(sgd_error({.lr = 0, .momentum = 0, .weight_decay = 0}) == "");
}

TEST_CASE("SGD rejects nesterov without momentum or with dampening") {
    const std::string rule =
        "SGD: nesterov needs a momentum above 0 and a dampening of 0, but ";
    CHECK(sgd_error({.nesterov = true}) == rule + "momentum is 0 and dampening is 0");
    CHECK(sgd_error({.momentum = 0.5, .dampening = 0.25, .nesterov = true}) ==
          rule + "momentum is 0.5 and dampening is 0.25");
    CHECK(sgd_error({.momentum = 0.5, .nesterov = true}) == "");
    CHECK(sgd_error({.momentum = 0.5, .dampening = 0.25}) == "");
    CHECK(sgd_error({.dampening = 0.25}) == "");  // has no effect without momentum
}

TEST_CASE(
    "SGD rejects an empty list, and a parameter that is no leaf or not contiguous") {
    Tensor p = Tensor::ones({2, 3}).set_requires_grad();
    CHECK_THROWS_AS(optim::SGD({}, {.lr = 0.1}), UsageError);
    CHECK_THROWS_AS(optim::SGD({p * 2.0f}, {.lr = 0.1}), UsageError);
    CHECK_THROWS_AS(optim::SGD({transpose(p.detach(), 0, 1)}, {.lr = 0.1}), UsageError);
}
