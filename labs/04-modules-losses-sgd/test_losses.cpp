// The checks of lab 04, tasks 04.4 and 04.5: losses and SGD.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using labs::Values;

namespace {

// Equal, or apart by at most 2 in 10 million: exp and log may differ in the last bit
// between machines.
bool close(float a, float b) { return a == b || std::abs(a - b) <= 2e-7f * std::abs(b); }

void check_close(const std::string& what, const Values& got, const Values& expected,
                 const std::string& hint) {
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
        INFO(what << ", element " << i << ": expected " << expected[i] << ", got "
                  << got[i]);
        INFO(hint);
        CHECK(close(got[i], expected[i]));
    }
}

}  // namespace

// ---- 04.4

TEST_CASE("nll_loss takes minus the log-probability of each target", "[lab04][lab04.4]") {
    Tensor x = Tensor::from(Values{-1, -2, -3, -4, -5, -6}, {2, 3});
    x.set_requires_grad();
    const Tensor target = Tensor::from(std::vector<int64_t>{2, 0});
    const Tensor losses = nll_loss(x, target, Reduction::kNone);
    check_close("rows -1 -2 -3 and -4 -5 -6 with targets 2 and 0",
                losses.to_vector<float>(), {3, 4}, "hint 1 of 04.4 helps");
    sum(losses * Tensor::from(Values{10, 20})).backward();
    check_close("the gradient, where row 0 has weight 10 and row 1 has weight 20",
                x.grad().to_vector<float>(), {0, 0, -10, -20, 0, 0},
                "only a target's log-probability changes its row's loss");
}

TEST_CASE("cross_entropy of any scores is finite", "[lab04][lab04.4]") {
    Tensor x = Tensor::from(Values{1, 2, 3, 1000, 0, -1000, 0, 0, 0}, {3, 3});
    x.set_requires_grad();
    const Tensor target = Tensor::from(std::vector<int64_t>{2, 1, 0});
    check_close("scores 1 2 3, 1000 0 -1000 and 0 0 0 with targets 2, 1 and 0",
                cross_entropy(x, target, Reduction::kNone).to_vector<float>(),
                {0.407605946f, 1000.0f, 1.09861231f},
                "exp(1000) is infinite, and log(exp(-1000)) is log(0); hint 2 of 04.4");
    cross_entropy(x, target).backward();
    const Values grad = x.grad().to_vector<float>();
    const Values expected = {0.0300101936f, 0.0815761685f, -0.111586332f,
                             0.333333343f,  -0.333333343f, 0.0f,
                             -0.222222239f, 0.111111104f,  0.111111104f};
    for (size_t i = 0; i < expected.size(); ++i) {
        INFO("gradient " << i << " of the mean loss: softmax minus 1 at the target, "
                         << "divided by 3 rows");
        CHECK(grad[i] == Approx(expected[i]).margin(1e-6));
    }
}

TEST_CASE("cross_entropy passes the reduction on", "[lab04][lab04.4]") {
    const Tensor x = Tensor::from(Values{0, 0, 0, 0}, {2, 2});
    const Tensor target = Tensor::from(std::vector<int64_t>{0, 1});
    INFO("two rows of two equal scores: each loss is log 2 = 0.693, the sum 1.386");
    CHECK(cross_entropy(x, target, Reduction::kSum).item() == Approx(2 * std::log(2.0)));
    CHECK(cross_entropy(x, target).item() == Approx(std::log(2.0)));
}

TEST_CASE("binary cross-entropy is finite, also for the probabilities 0 and 1",
          "[lab04][lab04.4]") {
    const std::vector<std::pair<float, float>> pairs = {
        {0.5f, 1}, {0.25f, 0}, {0.9f, 0.25f}, {0, 1}, {1, 0}, {1, 1}, {0, 0}};
    const Values expected = {0.693147182f, 0.287682056f, 1.75327885f, 100, 100, 0, 0};
    for (size_t i = 0; i < pairs.size(); ++i) {
        const auto [p, t] = pairs[i];
        const float loss =
            binary_cross_entropy(Tensor::from(Values{p}), Tensor::from(Values{t})).item();
        INFO("probability " << p << ", target " << t << ": expected " << expected[i]
                            << ", got " << loss);
        INFO("PyTorch clamps each logarithm to at least -100; hint 2 of 04.4 helps");
        CHECK(loss == Approx(expected[i]).epsilon(1e-6).margin(1e-7));
    }
    const float tiny = std::numeric_limits<float>::epsilon() / 8;
    Tensor loss = Tensor::empty({1});
    const Values p{tiny}, t{0};
    kernels::cpu::binary_cross_entropy(loss.data<float>(), p.data(), t.data(), 1);
    INFO("probability " << tiny
                        << ", target 0: the loss is nearly the probability; 1 - p "
                        << "is rounded to 1, and log1p(-p) does not subtract; got "
                        << loss.item());
    CHECK(loss.item() == Approx(tiny));
}

TEST_CASE("binary cross-entropy's gradient is finite, too", "[lab04][lab04.4]") {
    const Values p{0.5f, 0.25f, 0.9f, 0, 1, 1, 0}, t{1, 0, 0.25f, 1, 0, 1, 0};
    Tensor probability = Tensor::from(p);
    probability.set_requires_grad();
    const Tensor weight = Tensor::from(Values{2, 1, 1, 1, 1, 1, 1});
    sum(binary_cross_entropy(probability, Tensor::from(t), Reduction::kNone) * weight)
        .backward();
    const Values grad = probability.grad().to_vector<float>();
    const Values expected = {-4, 1.33333337f, 7.22222042f, -1e12f, 1e12f, 0, 0};
    for (size_t i = 0; i < expected.size(); ++i) {
        INFO("probability " << p[i] << ", target " << t[i] << ", weight "
                            << (i == 0 ? 2 : 1) << ": expected " << expected[i]
                            << ", got " << grad[i]);
        INFO("PyTorch clamps the divisor p (1 - p) to at least 1e-12");
        CHECK(grad[i] == Approx(expected[i]).epsilon(1e-5));
    }
}

// ---- 04.5

namespace {

// The parameters 1 and -2 after each of three steps with the gradients (1, 0.5),
// (-2, 1) and (0.25, 0). The expected numbers are those of PyTorch's SGD.
void check_steps(const std::string& name, optim::SGDOptions options,
                 const std::vector<Values>& expected, const std::string& hint) {
    const std::vector<Values> gradients = {{1, 0.5f}, {-2, 1}, {0.25f, 0}};
    Tensor parameter = Tensor::from(Values{1, -2});
    parameter.set_requires_grad();
    options.lr = 0.1;
    optim::SGD optimizer({parameter}, options);
    for (size_t step = 0; step < gradients.size(); ++step) {
        parameter.set_grad(Tensor::from(gradients[step]));
        optimizer.step();
        const Values got = parameter.to_vector<float>();
        for (size_t i = 0; i < 2; ++i) {
            INFO("SGD, lr 0.1, " << name);
            INFO("parameter " << (i == 0 ? "1" : "-2") << " after step " << step + 1
                              << ", whose gradient is " << gradients[step][i]
                              << ": expected " << expected[step][i] << ", got " << got[i]
                              << "; " << hint);
            CHECK(got[i] == expected[step][i]);
        }
    }
}

}  // namespace

TEST_CASE("a plain step follows the negative gradient", "[lab04][lab04.5]") {
    check_steps("no momentum", {},
                {{0.899999976f, -2.04999995f},
                 {1.10000002f, -2.14999986f},
                 {1.07500005f, -2.14999986f}},
                "hint 1 of 04.5 helps");
}

TEST_CASE("weight decay adds a part of the parameter to its gradient",
          "[lab04][lab04.5]") {
    check_steps("weight decay 0.5", {.weight_decay = 0.5},
                {{0.850000024f, -1.95000005f},
                 {1.00750005f, -1.9525001f},
                 {0.932125032f, -1.85487509f}},
                "the gradient is g + 0.5 p, with the p before the step");
    check_steps("weight decay 0.5, momentum 0.9", {.momentum = 0.9, .weight_decay = 0.5},
                {{0.850000024f, -1.95000005f},
                 {0.872500062f, -1.90750003f},
                 {0.824125051f, -1.773875f}},
                "the velocity is of g + 0.5 p");
}

TEST_CASE("momentum continues in the direction of earlier steps", "[lab04][lab04.5]") {
    check_steps("momentum 0.9", {.momentum = 0.9},
                {{0.899999976f, -2.04999995f},
                 {1.00999999f, -2.19499993f},
                 {1.08399999f, -2.32550001f}},
                "hint 2 of 04.5 helps");
    check_steps("momentum 0.9, dampening 0.5", {.momentum = 0.9, .dampening = 0.5},
                {{0.899999976f, -2.04999995f},
                 {0.909999967f, -2.14499998f},
                 {0.906499982f, -2.23049998f}},
                "the first velocity is the gradient, without dampening");
    check_steps("momentum 0.9, nesterov", {.momentum = 0.9, .nesterov = true},
                {{0.810000002f, -2.09500003f},
                 {1.10899997f, -2.32550001f},
                 {1.15059996f, -2.44295001f}},
                "nesterov steps along g + momentum v");
}

TEST_CASE("the first step does not read the velocity", "[lab04][lab04.5]") {
    const float garbage = std::numeric_limits<float>::quiet_NaN();
    Values parameter{1}, velocity{garbage};
    const Values grad{1};
    kernels::cpu::sgd_step(parameter.data(), velocity.data(), grad.data(), 1,
                           {.lr = 0.5f, .momentum = 0.9f, .first = true});
    INFO(
        "before the first step the velocity's memory holds anything, here NaN, and "
        "NaN * 0 is NaN");
    CHECK(velocity[0] == 1.0f);
    CHECK(parameter[0] == 0.5f);
}

TEST_CASE("a logistic regression learns: SimpleModel, BCE and SGD", "[lab04][lab04.5]") {
    Generator generator(1);
    std::vector<float> x(1000), y;
    fill_normal(x, 0, 1, generator);
    for (size_t i = 0; i < 100; ++i) {
        float total = 0;
        for (size_t k = 0; k < 10; ++k) total += x[10 * i + k];
        y.push_back(total > 0 ? 1.0f : 0.0f);
    }
    const Tensor data = Tensor::from(x, {100, 10}), target = Tensor::from(y, {100, 1});
    manual_seed(0);
    nn::Linear fc(10, 1);
    optim::SGD optimizer(fc.parameters(), {.lr = 1.0, .momentum = 0.5});
    double first = 0, last = 0;
    for (int step = 0; step < 200; ++step) {
        optimizer.zero_grad();
        const Tensor loss = binary_cross_entropy(sigmoid(fc(data)), target);
        loss.backward();
        optimizer.step();
        if (step == 0) first = loss.item();
        last = loss.item();
    }
    INFO("100 points of 10 numbers; the class is the sign of their sum; 200 steps");
    INFO("loss " << first << " -> " << last << "; it must fall below 0.1");
    CHECK(first > 0.5);
    CHECK(last < 0.1);
}
