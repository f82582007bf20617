#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/kernels/cuda/fused.hpp"
#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

// CPU and GPU may round a product and a sum once (fused) or twice, so their results
// differ in the last digits.
constexpr float kTolerance = 16 * kUnitRoundoff;

// Calls update(at, size) for parameters of 0 to 2450 elements, stored one after the other:
// more parameters than one launch updates.
template <typename Update>
void for_each_parameter(const Update& update) {
    for (int64_t k = 0, at = 0; k < 100; at += k * k / 4, ++k) update(at, k * k / 4);
}
constexpr int64_t kElements = 82075;  // of all these parameters

TEST_CASE("a step of SGD on the device equals the CPU's step") {
    const float momentum = GENERATE(0.0f, 0.9f);
    const bool nesterov = GENERATE(false, true), first = GENERATE(false, true);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(momentum, nesterov, first, skip);
    const SGDStep step{.lr = 0.1f,
                       .momentum = momentum,
                       .dampening = nesterov ? 0.0f : 0.3f,
                       .weight_decay = 0.01f,
                       .nesterov = nesterov,
                       .first = first};
    Both p(normal_numbers(kElements, 1), skip), v(normal_numbers(kElements, 2));
    Both g(normal_numbers(kElements, 3));
    std::vector<cuda::CallOf<cpu::sgd_step>> calls;
    for_each_parameter([&](int64_t at, int64_t size) {
        calls.emplace_back(p.device + at, momentum == 0 ? nullptr : v.device + at,
                           g.device + at, size, step);
    });
    cuda::sgd_steps(calls, nullptr);
    cpu::sgd_step(p.host.data(), momentum == 0 ? nullptr : v.host.data(), g.host.data(),
                  kElements, step);
    CHECK(max_error(p.read(), p.host) <= kTolerance);
    CHECK(max_error(v.read(), v.host) <= kTolerance);
}

TEST_CASE("a step of Adam on the device equals the CPU's step") {
    const bool decoupled = GENERATE(false, true);
    const double beta1 = GENERATE(0.9, 0.3);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(decoupled, beta1, skip);
    const AdamStep step{.lr = 0.1,
                        .beta1 = beta1,
                        .weight_decay = 0.01,
                        .decoupled = decoupled,
                        .step = 3};
    auto squares = normal_numbers(kElements, 3);
    for (float& value : squares) value = std::abs(value);
    squares[9] = kNaN;
    Both p(normal_numbers(kElements, 1)), m(normal_numbers(kElements, 2));
    Both v(squares, skip), g(normal_numbers(kElements, 5));
    std::vector<cuda::CallOf<cpu::adam_step>> calls;
    for_each_parameter([&](int64_t at, int64_t size) {
        calls.emplace_back(p.device + at, m.device + at, v.device + at, g.device + at,
                           size, step);
    });
    cuda::adam_steps(calls, nullptr);
    cpu::adam_step(p.host.data(), m.host.data(), v.host.data(), g.host.data(), kElements,
                   step);
    for (const auto* const result : {&p, &m, &v})
        CHECK(max_error(result->read(), result->host) <= kTolerance);
}

}  // namespace
}  // namespace mini::kernels
