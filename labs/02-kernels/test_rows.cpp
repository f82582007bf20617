// The checks of lab 02, second part: softmax, maxima, and the moments of channels.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "labs/02-kernels/test_support.hpp"
#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

using mini::kernels::ChannelExtents, mini::kernels::kInf, mini::kernels::kNaN,
    mini::kernels::normal_numbers, mini::kernels::unwritten;
using mini::labs::Values, mini::labs::rows_of;
namespace cpu = mini::kernels::cpu;

namespace {

Values log_softmax(const Values& x, int64_t rows, int64_t columns) {
    Values y = unwritten(rows * columns);
    cpu::log_softmax(y.data(), x.data(), rows, columns);
    return y;
}

Values log_softmax_backward(const Values& g, const Values& y, int64_t rows,
                            int64_t columns) {
    Values dx = unwritten(rows * columns);
    cpu::log_softmax_backward(dx.data(), g.data(), y.data(), rows, columns);
    return dx;
}

std::vector<int64_t> argmax(const Values& x, int64_t rows) {
    std::vector<int64_t> out(static_cast<size_t>(rows), -1);
    cpu::argmax(out.data(), x.data(), rows, std::ssize(x) / rows);
    return out;
}

// Returns whether each number differs from the expected one by at most `tolerance`.
bool all_close(const Values& x, const Values& expected, double tolerance) {
    return std::equal(x.begin(), x.end(), expected.begin(), expected.end(),
                      [&](float a, float b) {
                          return a == b || std::abs(double{a} - double{b}) <= tolerance;
                      });
}

bool all_nan(const Values& x) {
    return std::all_of(x.begin(), x.end(), [](float v) { return std::isnan(v); });
}

struct Moments {
    Values mean, variance;
};

Moments moments(const Values& x, ChannelExtents extents) {
    Moments result{unwritten(extents.C), unwritten(extents.C)};
    cpu::channel_moments(result.mean.data(), result.variance.data(), x.data(), extents);
    return result;
}

}  // namespace

TEST_CASE("log-softmax is the logarithm of a distribution", "[lab02][lab02.2]") {
    {
        const Values y = log_softmax({0, 0}, 1, 2);
        INFO("scores 0 0: both classes have 1/2, log 1/2 = -0.693147; yours "
             << rows_of(y, 2));
        CHECK(all_close(y, {-0.693147f, -0.693147f}, 1e-6));
    }
    const Values y = log_softmax({1, 2, 3}, 1, 3);
    INFO("scores 1 2 3: -2.407606 -1.407606 -0.407606; yours " << rows_of(y, 3));
    CHECK(all_close(y, {-2.407606f, -1.407606f, -0.407606f}, 1e-6));
    INFO("a single class has the probability 1, log 1 = 0");
    CHECK(log_softmax({-5}, 1, 1) == Values{0});
    CHECK(log_softmax({}, 0, 3).empty());
}

TEST_CASE("log-softmax does not overflow", "[lab02][lab02.2]") {
    {
        const Values y = log_softmax({1000, 0, -1000}, 1, 3);
        INFO("scores 1000 0 -1000; exp(1000) is infinite in float; yours "
             << rows_of(y, 3));
        CHECK(y == Values{0, -1000, -2000});
    }
    {
        const Values y = log_softmax({-1000, -1001}, 1, 2);
        INFO("scores -1000 -1001; exp(-1000) is 0, and log 0 is -inf; yours "
             << rows_of(y, 2));
        CHECK(all_close(y, {-0.313262f, -1.313262f}, 1e-3));
        INFO("(x - m) - log(sum), in this order: near 1000 floats are 0.00006 apart, so");
        INFO("m + log(sum) loses the digits of the logarithm");
        CHECK(all_close(y, {-0.313262f, -1.313262f}, 1e-6));
    }
    {
        const Values y = log_softmax({0, -200}, 1, 2);
        INFO("scores 0 -200: the probability exp(-200) is 0 in float, but its logarithm");
        INFO("is -200; yours " << rows_of(y, 2));
        CHECK(y == Values{0, -200});
    }
    const Values y = log_softmax({3, 1e4f, 1, -1e4f, -1e3f, 7, 0, 0, 500}, 3, 3);
    INFO("three rows, and the maximum is of each row: yours " << rows_of(y, 3));
    CHECK(y == Values{-9997, 0, -9999, -10007, -1007, 0, -500, -500, 0});
}

TEST_CASE("infinite scores and NaN in log-softmax", "[lab02][lab02.2]") {
    INFO("a score of -infinity is a class with the probability 0, as of a mask");
    CHECK(log_softmax({0, -kInf}, 1, 2) == Values{0, -kInf});
    INFO("NaN, infinity, or only -infinity: the whole row is NaN, and no other row");
    const Values y = log_softmax({1, kNaN, kInf, 2, -kInf, -kInf, 0, -800}, 4, 2);
    CHECK(all_nan(Values(y.begin(), y.begin() + 6)));
    CHECK(Values(y.begin() + 6, y.end()) == Values{0, -800});
    CHECK(all_nan(log_softmax({kNaN, 1}, 1, 2)));
}

TEST_CASE("the gradient of log-softmax subtracts the softmax", "[lab02][lab02.2]") {
    const float half = -0.69314718f;  // log 1/2
    {
        const Values dx = log_softmax_backward({1, 0}, {half, half}, 1, 2);
        INFO("y is log 1/2, log 1/2, and g = 1 0 with the sum 1: dx = 1 - 1/2, 0 - 1/2;");
        INFO("yours " << rows_of(dx, 2));
        CHECK(all_close(dx, {0.5f, -0.5f}, 1e-6));
    }
    {
        const Values dx = log_softmax_backward({0, -4}, {half, half}, 1, 2);
        INFO("g = 0 -4: the sum is -4, and dx = 0 + 2, -4 + 2; yours " << rows_of(dx, 2));
        CHECK(all_close(dx, {2, -2}, 1e-6));
    }
    INFO("two rows: each has its own sum");
    const Values dx = log_softmax_backward({0, -1, 0, 3, 2, 1},
                                           {0, -1000, -2000, -kInf, 0, -kInf}, 2, 3);
    CHECK(dx == Values{1, -1, 0, 3, -4, 1});
}

TEST_CASE("argmax returns the first maximum", "[lab02][lab02.2]") {
    CHECK(argmax({1, 3, 2, 5, 5, 4}, 2) == std::vector<int64_t>{1, 0});
    INFO("the last of a row, and a row without positive numbers");
    CHECK(argmax({1, 2, 9, -3, -1, -2}, 2) == std::vector<int64_t>{2, 1});
    CHECK(argmax({-kInf, -kInf, -kInf, -7}, 2) == std::vector<int64_t>{0, 1});
    INFO("-0.0 and 0.0 are equal");
    CHECK(argmax({-0.0f, 0.0f}, 1) == std::vector<int64_t>{0});
    CHECK(argmax({7}, 1) == std::vector<int64_t>{0});
}

TEST_CASE("argmax returns the first NaN", "[lab02][lab02.2]") {
    INFO("as in PyTorch, NaN counts as the maximum; a comparison with NaN is false");
    CHECK(argmax({1, kNaN, kInf}, 1) == std::vector<int64_t>{1});
    CHECK(argmax({1, kNaN, kInf, kNaN}, 1) == std::vector<int64_t>{1});
    CHECK(argmax({kNaN, 5, kNaN}, 1) == std::vector<int64_t>{0});
    CHECK(argmax({kInf, 5, kNaN}, 1) == std::vector<int64_t>{2});
    INFO("the second of two rows: an index counts from the front of its row");
    CHECK(argmax({1, 2, 3, 4, kNaN, 5}, 2) == std::vector<int64_t>{2, 1});
}

TEST_CASE("a channel's moments are those of all its elements", "[lab02][lab02.4]") {
    {
        const Moments of = moments({1, 2, 3, 4}, {1, 1, 4});
        INFO("1 2 3 4: the mean is 2.5, the squares of the distances are 2.25 0.25 0.25");
        INFO("2.25, and their mean is 1.25 (divided by 4, not by 3)");
        CHECK(of.mean == Values{2.5f});
        CHECK(of.variance == Values{1.25f});
    }
    const Values x = {1, 2, 10, 20, 3, 6, 10, 40};
    const Moments of = moments(x, {2, 2, 2});
    INFO(
        "two images of two channels of two elements: channel 0 is 1 2 3 6, channel 1 is");
    INFO("10 20 10 40");
    CHECK(of.mean == Values{3, 20});
    CHECK(of.variance == Values{3.5f, 150});
}

TEST_CASE("a large mean does not change the variance", "[lab02][lab02.4]") {
    const Moments of = moments({1e7f, 1e7f + 1, 1e7f + 2}, {1, 1, 3});
    INFO("10,000,000 to 10,000,002: the variance is 2/3, as of 0 to 2; yours "
         << of.variance[0] << "; the sum of the squares is near 10^14, where the last");
    INFO("digits of a double are 0.02");
    CHECK(all_close(of.variance, {2.0f / 3}, 1e-6));
    CHECK(of.mean == Values{1e7f + 1});
    INFO("10,000,000 and 10,000,001: do not round the mean, which is not a float");
    INFO("before the second pass; the variance is 0.25");
    CHECK(moments({1e7f, 1e7f + 1}, {1, 1, 2}).variance == Values{0.25f});
}

TEST_CASE("a constant channel has variance 0, and NaN stays in its channel",
          "[lab02][lab02.4]") {
    const int64_t space = GENERATE(1, 2);
    INFO("three images, three channels, " << space << " elements per channel and image");
    Values x(static_cast<size_t>(9 * space), 0.1f);
    x[static_cast<size_t>(4 * space)] = kNaN;  // image 1, channel 1
    const Moments of = moments(x, {3, 3, space});
    CHECK(of.mean[0] == 0.1f);
    CHECK(of.variance[0] == 0);
    CHECK(std::isnan(of.mean[1]));
    CHECK(std::isnan(of.variance[1]));
    CHECK(of.mean[2] == 0.1f);
    CHECK(of.variance[2] == 0);
}

TEST_CASE("the moments of columns are found row by row", "[lab02][lab02.4]") {
    const Values x = {1, 10, 2, 10, 3, 10, 6, 50};
    const Moments of = moments(x, {4, 2, 1});
    INFO("x is " << rows_of(x, 2)
                 << ": with one element per channel and image, a channel");
    INFO("is a column; column 0 is 1 2 3 6, column 1 is 10 10 10 50");
    CHECK(of.mean == Values{3, 20});
    CHECK(of.variance == Values{3.5f, 300});
    INFO("one row: each element is the mean, and the variance is 0");
    CHECK(moments({4, 5}, {1, 2, 1}).mean == Values{4, 5});
    CHECK(moments({4, 5}, {1, 2, 1}).variance == Values{0, 0});
}

TEST_CASE("one pass is accurate if it subtracts the first element", "[lab02][lab02.4]") {
    const Moments of =
        moments({1e7f, -1e7f, 1e7f + 1, -1e7f + 1, 1e7f + 2, -1e7f + 5}, {3, 2, 1});
    INFO("column 0 is 10,000,000 to 10,000,002, column 1 is -10,000,000, -9,999,999 and");
    INFO("-9,999,995: the variances are 2/3 and 14/3; yours " << rows_of(of.variance, 2));
    CHECK(all_close(of.variance, {2.0f / 3, 14.0f / 3}, 1e-6));
    CHECK(of.mean == Values{1e7f + 1, -1e7f + 2});
    INFO("10,000,000, three times 0.25: the difference -9,999,999.75 is not a float, so");
    INFO("both numbers must be doubles before the subtraction");
    CHECK(moments({1e7f, 0.25f, 0.25f, 0.25f}, {4, 1, 1}).mean == Values{2500000.25f});
}

TEST_CASE("the columns of a wide matrix come in chunks of 128", "[lab02][lab02.4]") {
    const int64_t columns = 300;
    Values x, mean, variance;
    for (int64_t row = 0; row < 2; ++row)
        for (int64_t c = 0; c < columns; ++c)
            x.push_back(static_cast<float>(row == 0 ? c : 3 * c));
    for (int64_t c = 0; c < columns; ++c) {
        mean.push_back(static_cast<float>(2 * c));
        variance.push_back(static_cast<float>(c * c));
    }
    INFO("column c is c, 3 c: the mean is 2 c, the variance c²; sums[c] belongs to");
    INFO("column begin + c");
    const Moments of = moments(x, {2, columns, 1});
    CHECK(of.mean == mean);
    CHECK(of.variance == variance);
}
