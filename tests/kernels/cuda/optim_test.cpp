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
    Both p(normal_numbers(n, 1), skip), v(normal_numbers(n, 2)), g(normal_numbers(n, 3));
    run_both<cpu::sgd_step, cuda::sgd_step>(p, momentum == 0 ? nullptr : &v, g, n, step);
    CHECK(max_error(p.read(), p.host) <= kTolerance);
    CHECK(max_error(v.read(), v.host) <= kTolerance);
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
    auto squares = normal_numbers(n, 3);
    for (float& value : squares) value = std::abs(value);
    if (n > 9) squares[9] = kNaN;
    Both p(normal_numbers(n, 1)), m(normal_numbers(n, 2)), v(squares, skip);
    Both g(normal_numbers(n, 5));
    run_both<cpu::adam_step, cuda::adam_step>(p, m, v, g, n, step);
    for (const auto* const result : {&p, &m, &v})
        CHECK(max_error(result->read(), result->host) <= kTolerance);
}

}  // namespace
}  // namespace mini::kernels
