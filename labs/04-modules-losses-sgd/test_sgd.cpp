// The checks of lab 04, tasks 04.4 and 04.5: steps of SGD and first values, within a
// tolerance, and then to the last bit. The expected numbers are PyTorch's.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/nn/conv.hpp"
#include "libmini/nn/init.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using labs::Values, labs::values_of;

namespace {

// The parameters 1 and -2 after each of three steps.
struct Steps {
    const char* name;
    optim::SGDOptions options;
    std::vector<Values> expected;
    const char* hint;
};

const std::vector<Values> kGradients = {{1, 0.5f}, {-2, 1}, {0.25f, 0}};

const std::vector<Steps> kPlain = {{"no momentum",
                                    {},
                                    {{0.899999976f, -2.04999995f},
                                     {1.10000002f, -2.14999986f},
                                     {1.07500005f, -2.14999986f}},
                                    "hint 1 of 04.4 helps"}};

const std::vector<Steps> kDecay = {
    {"weight decay 0.5",
     {.weight_decay = 0.5},
     {{0.850000024f, -1.95000005f},
      {1.00750005f, -1.9525001f},
      {0.932125032f, -1.85487509f}},
     "the gradient is g + 0.5 p, with the p before the step"},
    {"weight decay 0.5, momentum 0.9",
     {.momentum = 0.9, .weight_decay = 0.5},
     {{0.850000024f, -1.95000005f},
      {0.872500062f, -1.90750003f},
      {0.824125051f, -1.773875f}},
     "the velocity is of g + 0.5 p"},
};

const std::vector<Steps> kMomentum = {
    {"momentum 0.9",
     {.momentum = 0.9},
     {{0.899999976f, -2.04999995f},
      {1.00999999f, -2.19499993f},
      {1.08399999f, -2.32550001f}},
     "hint 2 of 04.4 helps"},
    {"momentum 0.9, dampening 0.5",
     {.momentum = 0.9, .dampening = 0.5},
     {{0.899999976f, -2.04999995f},
      {0.909999967f, -2.14499998f},
      {0.906499982f, -2.23049998f}},
     "the first velocity is the gradient, without dampening"},
    {"momentum 0.9, nesterov",
     {.momentum = 0.9, .nesterov = true},
     {{0.810000002f, -2.09500003f},
      {1.10899997f, -2.32550001f},
      {1.15059996f, -2.44295001f}},
     "nesterov steps along g + momentum v"},
};

// Calls check(yours, expected) for each parameter after each step.
template <typename Check>
void each_step(const std::vector<Steps>& all, Check check) {
    for (const auto& [name, options, expected, hint] : all) {
        Tensor parameter = Tensor::from(Values{1, -2});
        parameter.set_requires_grad();
        optim::SGDOptions with_lr = options;
        with_lr.lr = 0.1;
        optim::SGD optimizer({parameter}, with_lr);
        for (size_t step = 0; step < kGradients.size(); ++step) {
            parameter.set_grad(Tensor::from(kGradients[step]));
            optimizer.step();
            const Values got = parameter.to_vector<float>();
            for (size_t i = 0; i < 2; ++i) {
                INFO("SGD, lr 0.1, " << name);
                INFO("parameter " << (i == 0 ? "1" : "-2") << " after step " << step + 1
                                  << ", whose gradient is " << kGradients[step][i] << "; "
                                  << hint);
                check(got[i], expected[step][i]);
            }
        }
    }
}

void is_close(float got, float expected) { CHECK(got == Approx(expected)); }
void is_equal(float got, float expected) { CHECK(got == expected); }

}  // namespace

// ---- 04.4

TEST_CASE("a plain step follows the negative gradient", "[lab04][lab04.4]") {
    each_step(kPlain, is_close);
}

TEST_CASE("weight decay adds a part of the parameter to its gradient",
          "[lab04][lab04.4]") {
    each_step(kDecay, is_close);
}

TEST_CASE("momentum continues in the direction of earlier steps", "[lab04][lab04.4]") {
    each_step(kMomentum, is_close);
}

TEST_CASE("the first step does not read the velocity", "[lab04][lab04.4]") {
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

TEST_CASE("each of many elements has its own gradient and velocity", "[lab04][lab04.4]") {
    const int64_t n = GENERATE(0, 3, 40'000);
    const float momentum = GENERATE(0.0f, 0.5f);
    const auto size = static_cast<size_t>(n);
    Values parameter(size), velocity(size), grad(size);
    for (size_t i = 0; i < size; ++i) {
        parameter[i] = static_cast<float>(i);
        velocity[i] = static_cast<float>(i % 3);
        grad[i] = static_cast<float>(i % 5);
    }
    kernels::cpu::sgd_step(parameter.data(), momentum == 0 ? nullptr : velocity.data(),
                           grad.data(), n,
                           {.lr = 1, .momentum = momentum, .first = false});
    INFO(n << " elements i with gradient i % 5 and velocity i % 3, lr 1, momentum "
           << momentum << ": one step; all of them may be split over threads");
    for (size_t i = 0; i < size; ++i) {
        INFO("element " << i);
        const float v = momentum * static_cast<float>(i % 3) + grad[i];
        REQUIRE(parameter[i] == Approx(static_cast<float>(i) - v));
    }
}

TEST_CASE("a logistic regression learns: SimpleModel, BCE and SGD", "[lab04][lab04.4]") {
    Generator generator(1);
    std::vector<float> x(1000), y;
    fill_normal(x, 0, 1, generator);
    for (size_t i = 0; i < 100; ++i) {
        float total = 0;
        for (size_t k = 0; k < 10; ++k) total += x[10 * i + k];
        y.push_back(total > 0 ? 1.0f : 0.0f);
    }
    const Tensor data = Tensor::from(x, {100, 10}), target = Tensor::from(y, {100, 1});
    Tensor weight = Tensor::zeros({1, 10}), bias = Tensor::zeros({1});
    optim::SGD optimizer({weight.set_requires_grad(), bias.set_requires_grad()},
                         {.lr = 1.0, .momentum = 0.5});
    double first = 0, last = 0;
    for (int step = 0; step < 200; ++step) {
        optimizer.zero_grad();
        const Tensor loss =
            binary_cross_entropy(sigmoid(linear(data, weight, bias)), target);
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

// ---- 04.5

namespace {

// Numbers that are drawn after manual_seed(1); `expected` has the first of them.
struct Drawn {
    const char* call;
    Values (*draw)();
    Values expected;
};

template <typename Init>
Values weight_of(const Shape& shape, Init init) {
    Tensor weight = Tensor::empty(shape);
    init(weight);
    return weight.to_vector<float>();
}

using nn::init::FanMode, nn::init::Nonlinearity;

const std::vector<Drawn> kKaiming = {
    {"kaiming_uniform_ for ReLU, shape (2, 3)",
     [] {
         return weight_of({2, 3}, [](Tensor& w) {
             nn::init::kaiming_uniform_(w, {.nonlinearity = Nonlinearity::kRelu});
         });
     },
     {0.728692174f, -0.624203086f, -0.274161547f, 0.663787901f, -1.33139277f,
      0.848128259f}},
    {"kaiming_uniform_ for ReLU, kFanOut, shape (2, 3)",
     [] {
         return weight_of({2, 3}, [](Tensor& w) {
             nn::init::kaiming_uniform_(
                 w, {.mode = FanMode::kFanOut, .nonlinearity = Nonlinearity::kRelu});
         });
     },
     {0.892462015f, -0.764489532f, -0.335777938f, 0.812970817f, -1.63061655f,
      1.03874075f}},
    {"kaiming_normal_ for ReLU, shape (2, 3)",
     [] {
         return weight_of({2, 3}, [](Tensor& w) {
             nn::init::kaiming_normal_(w, {.nonlinearity = Nonlinearity::kRelu});
         });
     },
     {0.539991796f, 0.21794261f, 0.0503592715f, 0.507303476f, -0.368979663f,
      -0.135644764f}},
};

const std::vector<Drawn> kLayers = {
    {"Linear(4, 3): 12 numbers of the weight, then 3 of the bias",
     [] {
         const nn::Linear linear(4, 3);
         return values_of({linear.weight, linear.bias});
     },
     {0.2576316f, -0.220689118f, -0.0969307423f, 0.234684467f, -0.470718443f, 0.29985863f,
      -0.102862656f, 0.254371941f, 0.0695084929f, -0.0612220764f, 0.138680458f,
      0.0246658921f, 0.182614088f, -0.194850504f, -0.0364543796f}},
    {"Conv2d(2, 2, 2): 16 numbers of the weight, then 2 of the bias",
     [] {
         const nn::Conv2d conv(2, 2, 2);
         return values_of({conv.weight, conv.bias});
     },
     {0.182173043f, -0.156050771f, -0.0685403869f, 0.165946975f, -0.332848191f,
      0.212032065f, -0.0727348775f, 0.179868117f, 0.0491499268f, -0.0432905443f,
      0.0980618894f, 0.0174414199f, 0.129127651f, -0.137780115f, -0.0257771388f,
      -0.0318294689f, 0.0512454249f, -0.00141238305f}},
};

// Calls check(yours, expected) for each number.
template <typename Check>
void each_number(const std::vector<Drawn>& all, Check check) {
    for (const auto& [call, draw, expected] : all) {
        manual_seed(1);
        const Values got = draw();
        REQUIRE(got.size() >= expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
            INFO("torch.manual_seed(1), then " << call << ", number " << i);
            INFO("yours / expected = " << got[i] / expected[i]
                                       << ", the ratio of the standard deviations");
            check(got[i], expected[i]);
        }
    }
}

}  // namespace

TEST_CASE("kaiming_uniform_ and kaiming_normal_ draw PyTorch's numbers",
          "[lab04][lab04.5]") {
    each_number(kKaiming, is_close);
}

TEST_CASE("a Linear and a Conv2d begin with PyTorch's numbers", "[lab04][lab04.5]") {
    INFO("the weight is drawn first; hint 3 of 04.5 helps");
    each_number(kLayers, is_close);
}

TEST_CASE("a layer without a bias draws nothing for it", "[lab04][lab04.5]") {
    manual_seed(1);
    const nn::Linear without(4, 3, {.bias = false});
    const nn::Linear second(2, 2);
    manual_seed(1);
    Tensor first = Tensor::empty({3, 4}), expected = Tensor::empty({2, 2});
    nn::init::uniform_(first, 0, 1);
    nn::init::uniform_(expected, -1 / std::sqrt(2.0), 1 / std::sqrt(2.0));
    INFO("Linear(4, 3, no bias) draws 12 numbers, so the next layer begins at number 12");
    for (size_t i = 0; i < 4; ++i)
        CHECK(second.weight.to_vector<float>()[i] ==
              Approx(expected.to_vector<float>()[i]));
}

TEST_CASE("exact: first values and steps of SGD have PyTorch's bits",
          "[lab04][lab04.5]") {
    INFO("the values are right within a tolerance; here the last bit counts, too");
    for (const auto& all : {kKaiming, kLayers}) each_number(all, is_equal);
    for (const auto& all : {kPlain, kDecay, kMomentum}) each_step(all, is_equal);
}
