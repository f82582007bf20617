#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

struct SumSizes {
    int64_t outer, reduced, inner;
};

TEST_CASE("sums of integers are exact along rows and down columns") {
    const auto [outer, reduced, inner] = GENERATE(values<SumSizes>({
        {0, 5, 1},     {1, 0, 1},     {3, 0, 4},    {1, 1, 1},    {1, 31, 1},
        {33, 10, 1},   {5, 33, 1},    {2, 1000, 1}, {2, 1025, 1}, {1, 8193, 1},
        {3, 9000, 1},  {1, 70001, 1}, {1, 4, 3},    {2, 257, 3},  {1, 1000, 10},
        {4, 31, 33},   {1, 3, 300},   {1, 600, 65}, {3, 5, 64},   {2, 256, 2},
        {1, 70000, 2}, {1, 1, 20000},
    }));
    const size_t skip = GENERATE(0, 1);
    CAPTURE(outer, reduced, inner, skip);
    const auto x = small_integers(outer * reduced * inner);
    auto expected = unwritten(outer * inner);
    cpu::sum(expected.data(), x.data(), outer, reduced, inner);

    const OnDevice<float> device_x(x, skip);
    const auto out = unwritten_on_device(outer * inner);
    cuda::sum(out, device_x, outer, reduced, inner, nullptr);
    CHECK(first_difference(out.read(), expected) == kNoDifference);
}

TEST_CASE("the order of summation does not depend on the alignment of the array") {
    const int64_t n = GENERATE(1000, 5000, 70001);
    const auto x = normal_numbers(n);
    const OnDevice<float> here(x, 0), there(x, 1);
    const auto out = unwritten_on_device(1), other = unwritten_on_device(1);
    cuda::sum(out, here, 1, n, 1, nullptr);
    cuda::sum(other, there, 1, n, 1, nullptr);
    CHECK(bits(out.read()) == bits(other.read()));

    // About 60 roundings affect each element. Each rounding error is at most half an ulp
    // of a partial sum.
    auto expected = unwritten(1);
    cpu::sum(expected.data(), x.data(), 1, n, 1);
    double sizes = 0.0;
    for (const float value : x) sizes += std::abs(value);
    CHECK(std::abs(out.read()[0] - expected[0]) <= 100 * kUnitRoundoff * sizes);
}

TEST_CASE("argmax finds the first greatest element and the first NaN") {
    const int64_t rows = GENERATE(0, 1, 7),
                  cols = GENERATE(1, 10, 31, 33, 257, 1000, 3000);
    CAPTURE(rows, cols);
    auto x = small_integers(rows * cols);  // with many ties
    if (rows == 7 && cols > 10) {
        x[static_cast<size_t>(2 * cols + 9)] = kNaN;
        x[static_cast<size_t>(2 * cols + 3)] = kNaN;
        for (int64_t j = 0; j < cols; ++j) x[static_cast<size_t>(4 * cols + j)] = -kInf;
        x[static_cast<size_t>(5 * cols + cols - 1)] = kInf;
    }
    std::vector<int64_t> expected(static_cast<size_t>(rows), -7);
    cpu::argmax(expected.data(), x.data(), rows, cols);

    const OnDevice<float> device_x(x);
    const OnDevice<int64_t> out(std::vector<int64_t>(static_cast<size_t>(rows), -7));
    cuda::argmax(out, device_x, rows, cols, nullptr);
    CHECK(out.read() == expected);
}

TEST_CASE("log-softmax and its gradient equal the CPU's results") {
    const int64_t rows = GENERATE(0, 1, 5, 33), cols = GENERATE(1, 10, 31, 33, 257, 1500);
    CAPTURE(rows, cols);
    auto x = normal_numbers(rows * cols);
    for (float& value : x) value *= 40.0f;  // exp of such numbers overflows
    if (rows == 33) x[static_cast<size_t>(cols * 3)] = kNaN;
    const auto g = normal_numbers(rows * cols, 2);

    auto expected = unwritten(rows * cols);
    cpu::log_softmax(expected.data(), x.data(), rows, cols);
    const OnDevice<float> device_x(x), device_g(g);
    const auto y = unwritten_on_device(rows * cols),
               dx = unwritten_on_device(rows * cols);
    cuda::log_softmax(y, device_x, rows, cols, nullptr);
    // The sum has cols / 32 + 5 roundings, and its logarithm a few more.
    CHECK(max_error(y.read(), expected) <= 64 * kUnitRoundoff);

    // Terms of the sum of g can cancel, so the error of the sum is relative to the sum of
    // |g|, which is below 2 cols.
    const OnDevice<float> device_y(expected);
    auto expected_dx = unwritten(rows * cols);
    cpu::log_softmax_backward(expected_dx.data(), g.data(), expected.data(), rows, cols);
    cuda::log_softmax_backward(dx, device_g, device_y, rows, cols, nullptr);
    CHECK(max_error(dx.read(), expected_dx) <=
          (16 + 2 * static_cast<float>(cols)) * kUnitRoundoff);
}

TEST_CASE("nll and its gradient are bitwise identical to the CPU's results") {
    const int64_t rows = GENERATE(0, 1, 31, 100, 257), cols = GENERATE(1, 3, 10);
    CAPTURE(rows, cols);
    const auto x = normal_numbers(rows * cols), g = normal_numbers(rows, 2);
    std::vector<int64_t> target;
    for (int64_t i = 0; i < rows; ++i) target.push_back(i * 7 % cols);
    const OnDevice<float> device_x(x), device_g(g);
    const OnDevice<int64_t> device_target(target);

    auto expected = unwritten(rows);
    cpu::nll(expected.data(), x.data(), target.data(), rows, cols);
    const auto losses = unwritten_on_device(rows);
    cuda::nll(losses, device_x, device_target, rows, cols, nullptr);
    CHECK(bits(losses.read()) == bits(expected));

    auto expected_dx = unwritten(rows * cols);
    cpu::nll_backward(expected_dx.data(), g.data(), target.data(), rows, cols);
    const auto dx = unwritten_on_device(rows * cols);
    cuda::nll_backward(dx, device_g, device_target, rows, cols, nullptr);
    CHECK(bits(dx.read()) == bits(expected_dx));
}

TEST_CASE(
    "binary cross-entropy and its gradient equal the CPU's results even at 0 and 1") {
    const int64_t n = GENERATE(0, 1, 31, 33, 257, 1000);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, skip);
    std::vector<float> p, t;
    for (int64_t i = 0; i < n; ++i) {
        p.push_back(i % 10 == 9 ? kNaN : static_cast<float>(i % 9) / 8.0f);  // 0 ... 1
        t.push_back(static_cast<float>(i % 3) / 2.0f);
    }
    const auto g = normal_numbers(n);
    const OnDevice<float> device_p(p, skip), device_t(t, skip), device_g(g, skip);

    auto expected = unwritten(n);
    cpu::binary_cross_entropy(expected.data(), p.data(), t.data(), n);
    const auto losses = unwritten_on_device(n, skip);
    cuda::binary_cross_entropy(losses, device_p, device_t, n, nullptr);
    CHECK(max_error(losses.read(), expected) <= 8 * kUnitRoundoff);

    cpu::binary_cross_entropy_backward(expected.data(), g.data(), p.data(), t.data(), n);
    cuda::binary_cross_entropy_backward(losses, device_g, device_p, device_t, n, nullptr);
    CHECK(max_error(losses.read(), expected) <= 8 * kUnitRoundoff);
}

}  // namespace
}  // namespace mini::kernels
