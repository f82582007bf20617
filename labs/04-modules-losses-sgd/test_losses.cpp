// The checks of lab 04, task 04.3: losses.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/kernels/kernels.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using labs::Values;

namespace {

void check_close(const std::string& what, const Values& got, const Values& expected,
                 const std::string& hint) {
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
        INFO(what << ", element " << i << ": expected " << expected[i] << ", yours "
                  << got[i]);
        INFO(hint);
        CHECK(got[i] == Approx(expected[i]).epsilon(1e-6));
    }
}

}  // namespace

TEST_CASE("nll_loss takes minus the log-probability of each target", "[lab04][lab04.3]") {
    Tensor x = Tensor::from(Values{-1, -2, -3, -4, -5, -6}, {2, 3});
    x.set_requires_grad();
    const Tensor target = Tensor::from(std::vector<int64_t>{2, 0});
    const Tensor losses = nll_loss(x, target, Reduction::kNone);
    check_close("rows -1 -2 -3 and -4 -5 -6 with targets 2 and 0",
                losses.to_vector<float>(), {3, 4}, "hint 1 of 04.3 helps");
    sum(losses * Tensor::from(Values{10, 20})).backward();
    check_close("the gradient, where row 0 has weight 10 and row 1 has weight 20",
                x.grad().to_vector<float>(), {0, 0, -10, -20, 0, 0},
                "only a target's log-probability changes its row's loss");
}

TEST_CASE("cross_entropy of any scores is finite", "[lab04][lab04.3]") {
    Tensor x = Tensor::from(Values{1, 2, 3, 1000, 0, -1000, 0, 0, 0}, {3, 3});
    x.set_requires_grad();
    const Tensor target = Tensor::from(std::vector<int64_t>{2, 1, 0});
    check_close("scores 1 2 3, 1000 0 -1000 and 0 0 0 with targets 2, 1 and 0",
                cross_entropy(x, target, Reduction::kNone).to_vector<float>(),
                {0.407605946f, 1000.0f, 1.09861231f},
                "exp(1000) is infinite, and log(exp(-1000)) is log(0); hint 2 of 04.3");
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

TEST_CASE("cross_entropy passes the reduction on", "[lab04][lab04.3]") {
    const Tensor x = Tensor::from(Values{0, 0, 0, 0}, {2, 2});
    const Tensor target = Tensor::from(std::vector<int64_t>{0, 1});
    INFO("two rows of two equal scores: each loss is log 2 = 0.693, the sum 1.386");
    CHECK(cross_entropy(x, target, Reduction::kSum).item() == Approx(2 * std::log(2.0)));
    CHECK(cross_entropy(x, target).item() == Approx(std::log(2.0)));
}

TEST_CASE("binary cross-entropy is finite, also for the probabilities 0 and 1",
          "[lab04][lab04.3]") {
    const std::vector<std::pair<float, float>> pairs = {
        {0.5f, 1}, {0.25f, 0}, {0.9f, 0.25f}, {0, 1}, {1, 0}, {1, 1}, {0, 0}, {0, 0.5f}};
    const Values expected = {0.693147182f, 0.287682056f, 1.75327885f, 100, 100, 0, 0, 50};
    for (size_t i = 0; i < pairs.size(); ++i) {
        const auto [p, t] = pairs[i];
        const float loss =
            binary_cross_entropy(Tensor::from(Values{p}), Tensor::from(Values{t})).item();
        INFO("probability " << p << ", target " << t << ": expected " << expected[i]
                            << ", yours " << loss);
        INFO("PyTorch clamps each logarithm to at least -100; hint 2 of 04.3 helps");
        CHECK(loss == Approx(expected[i]).epsilon(1e-6).margin(1e-7));
    }
    const float tiny = std::numeric_limits<float>::epsilon() / 8;
    Tensor loss = Tensor::empty({1});
    const Values p{tiny}, t{0};
    kernels::cpu::binary_cross_entropy(loss.data<float>(), p.data(), t.data(), 1);
    INFO("probability " << tiny
                        << ", target 0: the loss is nearly the probability; 1 - p "
                        << "is rounded to 1, and log1p(-p) does not subtract; yours "
                        << loss.item());
    CHECK(loss.item() == Approx(tiny));
}

TEST_CASE("binary cross-entropy's gradient is finite, too", "[lab04][lab04.3]") {
    const Values p{0.5f, 0.25f, 0.9f, 0, 1, 1, 0, 1e-12f}, t{1, 0, 0.25f, 1, 0, 1, 0, 1};
    Tensor probability = Tensor::from(p);
    probability.set_requires_grad();
    const Tensor weight = Tensor::from(Values{2, 1, 1, 1, 1, 1, 1, 1});
    sum(binary_cross_entropy(probability, Tensor::from(t), Reduction::kNone) * weight)
        .backward();
    const Values grad = probability.grad().to_vector<float>();
    const Values expected = {-4, 1.33333337f, 7.22222042f, -1e12f, 1e12f, 0, 0, -1e12f};
    for (size_t i = 0; i < expected.size(); ++i) {
        INFO("probability " << p[i] << ", target " << t[i] << ", weight "
                            << (i == 0 ? 2 : 1) << ": expected " << expected[i]
                            << ", yours " << grad[i]);
        INFO("PyTorch clamps the divisor p (1 - p) to at least 1e-12");
        CHECK(grad[i] == Approx(expected[i]).epsilon(1e-5));
    }
}
