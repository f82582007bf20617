#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/kernels/cuda/kernels.hpp"
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
    Both x(small_integers(outer * reduced * inner), skip), out(unwritten(outer * inner));
    run_both<cpu::sum, cuda::sum>(out, x, outer, reduced, inner);
    CHECK(first_difference(out.read(), out.host) == kNoDifference);
}

TEST_CASE("the order of summation does not depend on the alignment of the array") {
    const int64_t n = GENERATE(1000, 5000, 70001);
    Both here(normal_numbers(n)), there(here.host, 1);
    Both out(unwritten(1)), other(unwritten(1));
    run_both<cpu::sum, cuda::sum>(out, here, 1, n, 1);
    run_both<cpu::sum, cuda::sum>(other, there, 1, n, 1);
    CHECK(bits(out.read()) == bits(other.read()));

    // About 60 roundings affect each element. Each rounding error is at most half an ulp
    // of a partial sum.
    double sizes = 0.0;
    for (const float value : here.host) sizes += std::abs(value);
    CHECK(std::abs(out.read()[0] - out.host[0]) <= 100 * kUnitRoundoff * sizes);
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
    Both scores(x);
    Both out(std::vector<int64_t>(static_cast<size_t>(rows), -7));
    run_both<cpu::argmax, cuda::argmax>(out, scores, rows, cols);
    CHECK(out.read() == out.host);
}

TEST_CASE("log-softmax and its gradient equal the CPU's results") {
    const int64_t rows = GENERATE(0, 1, 5, 33), cols = GENERATE(1, 10, 31, 33, 257, 1500);
    CAPTURE(rows, cols);
    auto scores = normal_numbers(rows * cols);
    for (float& value : scores) value *= 40.0f;  // exp of such numbers overflows
    if (rows == 33) scores[static_cast<size_t>(cols * 3)] = kNaN;
    if (rows == 5 && cols > 1) scores[0] = -kInf;
    Both x(scores), g(normal_numbers(rows * cols, 2));
    Both y(unwritten(rows * cols)), dx(unwritten(rows * cols));

    run_both<cpu::log_softmax, cuda::log_softmax>(y, x, rows, cols);
    // The sum has cols / 32 + 5 roundings, and its logarithm a few more.
    CHECK(max_error(y.read(), y.host) <= 64 * kUnitRoundoff);

    // Terms of the sum of g can cancel, so the error of the sum is relative to the sum of
    // |g|, which is below 2 cols.
    Both same_y(y.host);
    run_both<cpu::log_softmax_backward, cuda::log_softmax_backward>(dx, g, same_y, rows,
                                                                    cols);
    CHECK(max_error(dx.read(), dx.host) <=
          (16 + 2 * static_cast<float>(cols)) * kUnitRoundoff);
}

TEST_CASE("cross-entropy and its gradient equal those of the CPU's functions") {
    const int64_t rows = GENERATE(0, 1, 5, 33), cols = GENERATE(1, 10, 257, 1500);
    CAPTURE(rows, cols);
    std::vector<int64_t> classes;
    for (int64_t i = 0; i < rows; ++i) classes.push_back((i * 7 + 1) % cols);
    auto scores = normal_numbers(rows * cols);
    if (rows == 33) scores[static_cast<size_t>(cols * 3)] = kNaN;
    if (rows == 5 && cols > 1) scores[0] = -kInf;
    Both x(scores), loss(unwritten(1)), dx(unwritten(rows * cols));
    Both target(classes);
    cuda::cross_entropy(loss.device, dx.device, x.device, target.device, rows, cols, 3.0f,
                        nullptr);

    std::vector<float> y = scores, g = scores, losses(static_cast<size_t>(rows));
    const std::vector<float> thirds(static_cast<size_t>(rows), 1.0f / 3.0f);
    cpu::log_softmax(y.data(), scores.data(), rows, cols);
    cpu::nll(losses.data(), y.data(), classes.data(), rows, cols);
    cpu::sum(loss.host.data(), losses.data(), 1, rows, 1);
    cpu::nll_backward(g.data(), thirds.data(), classes.data(), rows, cols);
    cpu::log_softmax_backward(dx.host.data(), g.data(), y.data(), rows, cols);
    CHECK(max_error(loss.read(), {loss.host[0] / 3.0f}) <= 64 * kUnitRoundoff);
    CHECK(max_error(dx.read(), dx.host) <= 64 * kUnitRoundoff);
}

TEST_CASE("nll and its gradient are bitwise identical to the CPU's results") {
    const int64_t rows = GENERATE(0, 1, 31, 100, 257), cols = GENERATE(1, 3, 10);
    CAPTURE(rows, cols);
    std::vector<int64_t> classes;
    for (int64_t i = 0; i < rows; ++i) classes.push_back(i * 7 % cols);
    Both x(normal_numbers(rows * cols)), g(normal_numbers(rows, 2));
    Both losses(unwritten(rows)), dx(unwritten(rows * cols));
    Both target(classes);

    run_both<cpu::nll, cuda::nll>(losses, x, target, rows, cols);
    CHECK(bits(losses.read()) == bits(losses.host));
    run_both<cpu::nll_backward, cuda::nll_backward>(dx, g, target, rows, cols);
    CHECK(bits(dx.read()) == bits(dx.host));
}

TEST_CASE(
    "binary cross-entropy and its gradient equal the CPU's results even at 0 and 1") {
    const int64_t n = GENERATE(0, 1, 31, 33, 257, 1000);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, skip);
    std::vector<float> inputs, targets;
    for (int64_t i = 0; i < n; ++i) {
        inputs.push_back(i % 10 == 9 ? kNaN
                                     : static_cast<float>(i % 9) / 8.0f);  // 0 .. 1
        targets.push_back(static_cast<float>(i % 3) / 2.0f);
    }
    Both p(inputs, skip), t(targets, skip), g(normal_numbers(n), skip);
    Both out(unwritten(n), skip);

    run_both<cpu::binary_cross_entropy, cuda::binary_cross_entropy>(out, p, t, n);
    CHECK(max_error(out.read(), out.host) <= 8 * kUnitRoundoff);
    run_both<cpu::binary_cross_entropy_backward, cuda::binary_cross_entropy_backward>(
        out, g, p, t, n);
    CHECK(max_error(out.read(), out.host) <= 8 * kUnitRoundoff);
}

}  // namespace
}  // namespace mini::kernels
