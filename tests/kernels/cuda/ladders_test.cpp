// The ladders of ReLU, sum and log-softmax: every rung has the result of its library
// function.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/06-cuda-kernels/relu_ladder.hpp"
#include "labs/06-cuda-kernels/softmax_online.hpp"
#include "labs/06-cuda-kernels/sum_ladder.hpp"
#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

TEST_CASE("every kernel of the ReLU ladder computes every element") {
    const int64_t n = GENERATE(0, 1, 31, 33, 256, 257, 1000, 4099);
    CAPTURE(n);
    auto x = small_integers(n);
    if (n > 0) x.back() = kNaN;
    auto expected = unwritten(n);
    cpu::unary(UnaryOp::kReLU, expected.data(), x.data(), n);

    const OnDevice<float> on_device(x);
    const auto runs = unwritten_on_device(n), each = unwritten_on_device(n),
               one = unwritten_on_device(n), three = unwritten_on_device(n);
    cuda::relu_runs(runs, on_device, n, nullptr);
    cuda::relu_each(each, on_device, n, nullptr);
    cuda::relu_grid_stride(one, on_device, n, 1, nullptr);
    cuda::relu_grid_stride(three, on_device, n, 3, nullptr);
    for (const auto* const out : {&runs, &each, &one, &three})
        CHECK(bits(out->read()) == bits(expected));
}

struct Rung {
    const char* name;
    void (*sum)(float*, const float*, int64_t, cudaStream_t);
};

const std::vector<Rung> kRungs{
    {"divergent", cuda::sum_divergent},   {"interleaved", cuda::sum_interleaved},
    {"sequential", cuda::sum_sequential}, {"first_add", cuda::sum_first_add},
    {"shuffle", cuda::sum_shuffle},       {"atomic", cuda::sum_atomic},
};

float sum_by(const Rung& rung, const std::vector<float>& x) {
    const OnDevice<float> on_device(x);
    const auto out = unwritten_on_device(1);
    rung.sum(out, on_device, static_cast<int64_t>(x.size()), nullptr);
    return out.read()[0];
}

TEST_CASE("every rung of the ladder of sums adds integers exactly") {
    const int64_t n = GENERATE(0, 1, 31, 33, 255, 256, 257, 2048, 2049, 20000);
    CAPTURE(n);
    const auto x = small_integers(n);
    auto expected = unwritten(1);
    cpu::sum(expected.data(), x.data(), 1, n, 1);
    for (const Rung& rung : kRungs) {
        CAPTURE(rung.name);
        CHECK(sum_by(rung, x) == expected[0]);
    }
}

TEST_CASE("sums without atomics are bitwise identical in every run") {
    const auto x = normal_numbers(20000);
    for (const Rung& rung : kRungs) {
        if (std::string(rung.name) == "atomic") continue;
        CAPTURE(rung.name);
        CHECK(bits({sum_by(rung, x)}) == bits({sum_by(rung, x)}));
    }
}

TEST_CASE("the online log-softmax equals the CPU's") {
    const int64_t rows = GENERATE(0, 1, 5), cols = GENERATE(1, 10, 31, 33, 257, 1500);
    CAPTURE(rows, cols);
    auto x = normal_numbers(rows * cols);
    for (float& value : x) value *= 40.0f;  // exp of such numbers overflows
    if (rows == 5 && cols > 31) {
        x[static_cast<size_t>(cols * 3)] = kNaN;
        x[static_cast<size_t>(cols * 4 + 7)] = -kInf;
    }
    auto expected = unwritten(rows * cols);
    cpu::log_softmax(expected.data(), x.data(), rows, cols);

    const OnDevice<float> on_device(x);
    const auto y = unwritten_on_device(rows * cols);
    cuda::log_softmax_online(y, on_device, rows, cols, nullptr);
    // The sum of exponentials of a lane is scaled at most once per element, and each of
    // these scalings is rounded twice.
    const auto tolerance = static_cast<float>(2 * cols / 32 + 20) * kUnitRoundoff;
    CHECK(max_error(y.read(), expected) <= tolerance);
}

}  // namespace
}  // namespace mini::kernels
