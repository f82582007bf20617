// What the checks of lab 06 leave out: the kernels of its ladders that are given, and rows
// with NaN.

#include <cmath>
#include <cstdint>
#include <vector>

#include "labs/06-cuda-kernels/relu_ladder.hpp"
#include "labs/06-cuda-kernels/softmax_online.hpp"
#include "labs/06-cuda-kernels/sum_ladder.hpp"
#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

TEST_CASE("relu_runs computes every element") {
    const int64_t n = GENERATE(0, 1, 31, 33, 256, 257, 1000, 4099);
    CAPTURE(n);
    auto x = small_integers(n);
    if (n > 0) x.back() = kNaN;
    auto expected = unwritten(n);
    cpu::unary(UnaryOp::kReLU, expected.data(), x.data(), n);
    const OnDevice<float> on_device(x);
    const auto out = unwritten_on_device(n);
    cuda::relu_runs(out, on_device, n, nullptr);
    CHECK(bits(out.read()) == bits(expected));
}

TEST_CASE("the given rungs of the ladder of sums add integers exactly") {
    const int64_t n = GENERATE(0, 1, 31, 33, 255, 256, 257, 2048, 2049, 20000);
    CAPTURE(n);
    const auto x = small_integers(n);
    auto expected = unwritten(1);
    cpu::sum(expected.data(), x.data(), 1, n, 1);
    const OnDevice<float> on_device(x);
    for (const auto& sum :
         {cuda::sum_divergent, cuda::sum_interleaved, cuda::sum_atomic}) {
        const auto out = unwritten_on_device(1);
        sum(out, on_device, n, nullptr);
        CHECK(out.read() == expected);
    }
}

TEST_CASE("the online log-softmax of a row with NaN is NaN, and only of this row") {
    const int64_t rows = 5, cols = GENERATE(31, 33, 257, 1500);
    CAPTURE(cols);
    auto x = normal_numbers(rows * cols);
    x[static_cast<size_t>(cols * 3)] = kNaN;
    const OnDevice<float> on_device(x);
    const auto y = unwritten_on_device(rows * cols);
    cuda::log_softmax_online(y, on_device, rows, cols, nullptr);
    const auto result = y.read();
    for (int64_t i = 0; i < rows * cols; ++i)
        REQUIRE(std::isnan(result[static_cast<size_t>(i)]) == (i / cols == 3));
}

}  // namespace
}  // namespace mini::kernels
