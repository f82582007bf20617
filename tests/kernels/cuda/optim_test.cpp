#include <cstddef>
#include <cstdint>

#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

// CPU and GPU may round a product and a sum once (fused) or twice, so their results
// differ in the last digits.
constexpr float kTolerance = 16 * kUnitRoundoff;

TEST_CASE("an SGD step on the device equals the CPU's step") {
    const int64_t n = GENERATE(0, 1, 31, 33, 255, 257, 1000, 5001);
    const float momentum = GENERATE(0.0f, 0.9f);
    const bool nesterov = GENERATE(false, true), first = GENERATE(false, true);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, momentum, nesterov, first, skip);
    const SGDStep step{.lr = 0.1f,
                       .momentum = momentum,
                       .dampening = nesterov ? 0.0f : 0.3f,
                       .weight_decay = 0.01f,
                       .nesterov = nesterov,
                       .first = first};
    auto p = normal_numbers(n, 1), v = normal_numbers(n, 2);
    const auto g = normal_numbers(n, 3);
    const OnDevice<float> device_p(p, skip), device_v(v), device_g(g);

    cpu::sgd_step(p.data(), momentum == 0 ? nullptr : v.data(), g.data(), n, step);
    cuda::sgd_step(device_p, momentum == 0 ? nullptr : device_v.get(), device_g, n, step,
                   nullptr);
    CHECK(max_error(device_p.read(), p) <= kTolerance);
    CHECK(max_error(device_v.read(), v) <= kTolerance);
}

TEST_CASE("an Adam step on the device equals the CPU's step") {
    const int64_t n = GENERATE(0, 1, 33, 257, 5001);
    const bool decoupled = GENERATE(false, true);
    const double beta1 = GENERATE(0.9, 0.3);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, decoupled, beta1, skip);
    const AdamStep step{.lr = 0.1,
                        .beta1 = beta1,
                        .weight_decay = 0.01,
                        .decoupled = decoupled,
                        .step = 3};
    auto p = normal_numbers(n, 1), m = normal_numbers(n, 2), v = normal_numbers(n, 3);
    for (float& value : v) value = std::abs(value);
    if (n > 9) v[9] = kNaN;
    const auto g = normal_numbers(n, 5);
    const OnDevice<float> device_p(p), device_m(m), device_v(v, skip), device_g(g);

    cpu::adam_step(p.data(), m.data(), v.data(), g.data(), n, step);
    cuda::adam_step(device_p, device_m, device_v, device_g, n, step, nullptr);
    CHECK(max_error(device_p.read(), p) <= kTolerance);
    CHECK(max_error(device_m.read(), m) <= kTolerance);
    CHECK(max_error(device_v.read(), v) <= kTolerance);
}

}  // namespace
}  // namespace mini::kernels
