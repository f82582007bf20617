// The values of the steps are compared with PyTorch in tests/optim and in lab 04.

#include "libmini/kernels/kernels.hpp"

#include <algorithm>
#include <vector>

#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {

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
