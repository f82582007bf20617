#include "libmini/kernels/kernels.hpp"

#include <algorithm>
#include <vector>

#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

// The numbers are sums of few powers of two, so that every step below is exact.
constexpr float kStart = 4.0f, kGrad = 2.0f;

struct State {
    float parameter = kStart;
    float velocity = kNaN;  // the first step must not read this NaN
};

State after(State state, SGDStep step) {
    cpu::sgd_step(&state.parameter, &state.velocity, &kGrad, 1, step);
    return state;
}

}  // namespace

TEST_CASE("SGD without momentum subtracts lr times the gradient and needs no velocity") {
    float parameter = kStart;
    cpu::sgd_step(&parameter, nullptr, &kGrad, 1, {.lr = 0.5f});
    CHECK(parameter == 3.0f);  // 4 - 0.5 * 2

    parameter = kStart;
    cpu::sgd_step(&parameter, nullptr, &kGrad, 1, {.lr = 0.5f, .weight_decay = 0.25f});
    CHECK(parameter == 2.5f);  // 4 - 0.5 * (2 + 0.25 * 4)
}

TEST_CASE(
    "the first SGD step sets the velocity to the gradient and later steps accumulate") {
    SGDStep step = {.lr = 0.5f, .momentum = 0.5f, .dampening = 0.75f};
    const State first = after({}, step);
    CHECK(first.velocity == 2.0f);   // the gradient, not dampened
    CHECK(first.parameter == 3.0f);  // 4 - 0.5 * 2

    step.first = false;
    const State second = after(first, step);
    CHECK(second.velocity == 1.5f);    // 0.5 * 2 + (1 - 0.75) * 2
    CHECK(second.parameter == 2.25f);  // 3 - 0.5 * 1.5
}

TEST_CASE("Nesterov momentum adds the velocity to the gradient") {
    SGDStep step = {.lr = 0.5f, .momentum = 0.5f, .nesterov = true};
    const State first = after({}, step);
    CHECK(first.velocity == 2.0f);
    CHECK(first.parameter == 2.5f);  // 4 - 0.5 * (2 + 0.5 * 2)

    step.first = false;
    const State second = after(first, step);
    CHECK(second.velocity == 3.0f);    // 0.5 * 2 + 2
    CHECK(second.parameter == 0.75f);  // 2.5 - 0.5 * (2 + 0.5 * 3)
}

TEST_CASE("weight decay is added to the gradient before the velocity") {
    const State state =
        after({}, {.lr = 0.5f, .momentum = 0.5f, .weight_decay = 0.25f, .first = true});
    CHECK(state.velocity == 3.0f);   // 2 + 0.25 * 4
    CHECK(state.parameter == 2.5f);  // 4 - 0.5 * 3
}

TEST_CASE("sgd_step is elementwise and bitwise identical for any number of threads") {
    const int64_t n = GENERATE(0, 1, 17, 50000);
    const float momentum = GENERATE(0.0f, 0.9f);
    CAPTURE(n, momentum);
    const SGDStep step = {
        .lr = 0.1f, .momentum = momentum, .weight_decay = 0.01f, .first = false};
    const std::vector<float> grad = normal_numbers(n, 1);
    const auto stepped = [&] {
        std::vector<float> parameter = normal_numbers(n, 2),
                           velocity = normal_numbers(n, 3);
        cpu::sgd_step(parameter.data(), velocity.data(), grad.data(), n, step);
        return parameter;
    };
    CHECK(identical_for_any_threads(stepped));

    std::vector<float> expected = normal_numbers(n, 2), velocity = normal_numbers(n, 3);
    for (int64_t i = 0; i < n; ++i)
        cpu::sgd_step(&expected[i], &velocity[i], &grad[i], 1, step);
    CHECK(first_difference(stepped(), expected) == kNoDifference);
}

TEST_CASE("the first step of Adam has the size lr for any gradient") {
    // With bias correction m = g and v = g^2, so m / sqrt(v) is 1; all numbers are powers
    // of two.
    const float grad = GENERATE(0.25f, 2.0f, 1024.0f);
    float parameter = kStart, m = 0, v = 0;
    const AdamStep step = {.lr = 0.5, .beta1 = 0.5, .beta2 = 0.75, .eps = 0};
    cpu::adam_step(&parameter, &m, &v, &grad, 1, step);
    CHECK(parameter == 3.5f);
    CHECK(m == grad / 2);
    CHECK(v == grad * grad / 4);
}

TEST_CASE("weight decay changes the averages of Adam but not the averages of AdamW") {
    AdamStep step = {
        .lr = 0.5, .beta1 = 0.5, .beta2 = 0.75, .eps = 0, .weight_decay = 0.5};
    float parameter = kStart, m = 0, v = 0;
    cpu::adam_step(&parameter, &m, &v, &kGrad, 1, step);
    CHECK(m == 2.0f);          // (2 + 0.5 * 4) / 2
    CHECK(parameter == 3.5f);  // 4 - 0.5

    step.decoupled = true;
    parameter = kStart, m = 0, v = 0;
    cpu::adam_step(&parameter, &m, &v, &kGrad, 1, step);
    CHECK(m == 1.0f);
    CHECK(parameter == 2.5f);  // 4 * (1 - 0.5 * 0.5) - 0.5
}

TEST_CASE("adam_step is elementwise and bitwise identical for any number of threads") {
    const int64_t n = GENERATE(0, 1, 17, 50000);
    const double beta1 = GENERATE(0.3, 0.9);
    CAPTURE(n, beta1);
    const AdamStep step = {.lr = 0.1, .beta1 = beta1, .weight_decay = 0.01, .step = 3};
    const std::vector<float> grad = normal_numbers(n, 1);
    const auto stepped = [&](int64_t stride) {
        std::vector<float> p = normal_numbers(n, 2), m = normal_numbers(n, 3), v = grad;
        for (float& x : v) x *= x;
        for (int64_t i = 0; i < n; i += stride)
            cpu::adam_step(&p[i], &m[i], &v[i], &grad[i], std::min(stride, n - i), step);
        return p;
    };
    const int64_t all = std::max<int64_t>(n, 1);
    CHECK(identical_for_any_threads([&] { return stepped(all); }));
    CHECK(first_difference(stepped(all), stepped(1)) == kNoDifference);
}

}  // namespace mini::kernels
