#include <cmath>
#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

std::vector<float> log_softmax_of(const std::vector<float>& x, int64_t rows,
                                  int64_t cols) {
    std::vector<float> y = unwritten(rows * cols);
    cpu::log_softmax(y.data(), x.data(), rows, cols);
    return y;
}

std::vector<float> log_softmax_backward_of(const std::vector<float>& g,
                                           const std::vector<float>& y, int64_t rows,
                                           int64_t cols) {
    std::vector<float> dx = unwritten(rows * cols);
    cpu::log_softmax_backward(dx.data(), g.data(), y.data(), rows, cols);
    return dx;
}

}  // namespace

TEST_CASE("log-softmax and its gradient equal their definitions in double precision") {
    const int64_t rows = GENERATE(0, 1, 3, 128);
    const int64_t cols = GENERATE(1, 2, 10, 100);
    CAPTURE(rows, cols);
    const std::vector<float> x = normal_numbers(rows * cols, 1),
                             g = normal_numbers(rows * cols, 2);
    const std::vector<float> y = log_softmax_of(x, rows, cols);
    const std::vector<float> dx = log_softmax_backward_of(g, y, rows, cols);

    // The sums of `cols` exponentials and of `cols` gradients are computed in float32,
    // with each term below 8.
    const double tolerance = 8 * static_cast<double>(cols + 4) * std::ldexp(1.0, -24);
    for (int64_t i = 0; i < rows; ++i) {
        double total = 0, g_total = 0;
        for (int64_t j = 0; j < cols; ++j) {
            total += std::exp(static_cast<double>(x[i * cols + j]));
            g_total += g[i * cols + j];
        }
        double error = 0;
        for (int64_t k = i * cols; k < (i + 1) * cols; ++k) {
            const double exact = x[k] - std::log(total);
            error += std::abs(y[k] - exact) / static_cast<double>(cols);
            error += std::abs(dx[k] - (g[k] - std::exp(exact) * g_total)) /
                     static_cast<double>(cols);
        }
        CHECK(error < tolerance);
    }
}

TEST_CASE("log-softmax and its gradient are accurate for rows of 2^25 columns",
          "[large]") {
    const int power = GENERATE(20, 24, 25);
    CAPTURE(power);
    const int64_t cols = int64_t{1} << power;
    std::vector<float> x(static_cast<size_t>(cols), 1.0f);
    const std::vector<float> y = log_softmax_of(x, 1, cols);
    CHECK(std::abs(y[0] + power * std::log(2.0)) < 2e-6 * power);
    CHECK(y[0] == y.back());
    // g is all ones: the gradient is 1 - cols exp(y) = 0.
    const std::vector<float> dx = log_softmax_backward_of(x, y, 1, cols);
    CHECK(std::abs(dx[0]) < 1e-5f);
}

TEST_CASE("a log-probability below the range of floats is minus infinity") {
    CHECK(log_softmax_of({3e38f, -3e38f, 0}, 1, 3) ==
          std::vector<float>{0, -kInf, -3e38f});
}

TEST_CASE("log-softmax is bitwise identical for any number of threads") {
    const std::vector<float> x = normal_numbers(2000 * 10, 1),
                             g = normal_numbers(2000 * 10, 2);
    CHECK(identical_for_any_threads([&] { return log_softmax_of(x, 2000, 10); }));
    CHECK(identical_for_any_threads(
        [&] { return log_softmax_backward_of(g, x, 2000, 10); }));
}

}  // namespace mini::kernels
