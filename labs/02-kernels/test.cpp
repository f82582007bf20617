// The checks of lab 02, first part: sums.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "labs/check/arrays.hpp"
#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

using mini::kernels::bits, mini::kernels::identical_for_any_threads, mini::kernels::kInf,
    mini::kernels::kNaN, mini::kernels::normal_numbers, mini::kernels::small_integers,
    mini::kernels::unwritten;
using mini::labs::Values, mini::labs::rows_of;
namespace cpu = mini::kernels::cpu;

namespace {

// The largest relative error of a sum of 2^20 equal numbers: a number may take part in
// some 160 additions, each of which rounds by at most 2^-24.
constexpr double kTolerance = 1e-5;

Values sum(const Values& x, int64_t outer, int64_t reduced, int64_t inner) {
    Values out = unwritten(outer * inner);
    cpu::sum(out.data(), x.data(), outer, reduced, inner);
    return out;
}

// Returns how far a sum is from the exact one, as a part of it.
double relative_error(float total, double exact) {
    return std::abs(double{total} - exact) / exact;
}

}  // namespace

TEST_CASE("the rows of a matrix are added", "[lab02][lab02.1]") {
    {
        const Values x = {1, 10, 2, 20, 3, 30}, out = sum(x, 1, 3, 2);
        INFO("x is " << rows_of(x, 2) << ": one matrix of 3 rows and 2 columns; yours "
                     << rows_of(out, 2) << "; nan: out was not set");
        CHECK(out == Values{6, 60});
    }
    {
        const Values out = sum({1, 2, 3, 10, 20, 30}, 2, 3, 1);
        INFO("two rows, 1 2 3 and 10 20 30: outer 2, reduced 3, inner 1; yours "
             << rows_of(out, 2));
        CHECK(out == Values{6, 60});
    }
    INFO("the sum of no rows is 0");
    CHECK(sum({}, 2, 0, 3) == Values(6, 0.0f));
    CHECK(sum({}, 2, 0, 1) == Values(2, 0.0f));
    CHECK(sum({}, 0, 3, 2).empty());
    CHECK(sum({5, 7}, 1, 1, 2) == Values{5, 7});
}

TEST_CASE("matrices with any number of rows are added", "[lab02][lab02.1]") {
    const int64_t rows = GENERATE(2, 3, 15, 16, 17, 18, 31, 32, 33, 67, 1000, 1025);
    const int64_t columns = GENERATE(2, 5);
    const Values x = small_integers(2 * rows * columns);
    Values expected(static_cast<size_t>(2 * columns));
    for (int64_t i = 0; i < 2; ++i)
        for (int64_t k = 0; k < rows; ++k)
            for (int64_t j = 0; j < columns; ++j)
                expected[static_cast<size_t>(i * columns + j)] +=
                    x[static_cast<size_t>((i * rows + k) * columns + j)];
    INFO("two matrices of " << rows << " rows and " << columns
                            << " columns; all sums of");
    INFO("these integers are exact, so the order does not matter here; an odd number of");
    INFO("rows has halves of different sizes");
    CHECK(sum(x, 2, rows, columns) == expected);
}

TEST_CASE("rows of any length are added", "[lab02][lab02.1]") {
    const int64_t n =
        GENERATE(1, 7, 31, 32, 33, 63, 64, 95, 512, 32 * 17, 32 * 17 + 5, 4000);
    const Values x = small_integers(3 * n);
    Values expected(3);
    for (int64_t i = 0; i < 3 * n; ++i)
        expected[static_cast<size_t>(i / n)] += x[static_cast<size_t>(i)];
    INFO("three rows of " << n << " numbers: outer 3, reduced " << n << ", inner 1");
    CHECK(sum(x, 3, n, 1) == expected);
}

TEST_CASE("a sum of many floats keeps its digits", "[lab02][lab02.1]") {
    const int64_t rows = int64_t{1} << 18;
    const double exact = double{0.1f} * static_cast<double>(rows);
    const float total = sum(Values(static_cast<size_t>(2 * rows), 0.1f), 1, rows, 2)[1];
    INFO("2^18 rows of 0.1, two columns: " << exact << ", yours " << total
                                           << "; in order, each addition to the large");
    INFO("sum loses digits of the small number");
    CHECK(relative_error(total, exact) < kTolerance);
}

TEST_CASE("a sum of a long row keeps its digits", "[lab02][lab02.1]") {
    const int64_t n = int64_t{1} << 20;
    const double exact = double{0.1f} * static_cast<double>(n);
    const float total = sum(Values(static_cast<size_t>(n), 0.1f), 1, n, 1)[0];
    INFO("2^20 times 0.1: " << exact << ", yours " << total);
    CHECK(relative_error(total, exact) < kTolerance);
}

TEST_CASE("the bits of a sum depend only on the numbers and the extents",
          "[lab02][lab02.1]") {
    const Values x = normal_numbers(300000);
    INFO("with 1, 2 and 3 threads, and in a second call");
    CHECK(identical_for_any_threads([&] { return sum(x, 300, 1000, 1); }));
    CHECK(identical_for_any_threads([&] { return sum(x, 10, 300, 100); }));
    CHECK(bits(sum(x, 1, 100, 3)) == bits(sum(x, 1, 100, 3)));
    INFO("a sum with infinity is infinite, and NaN stays in its own sum");
    CHECK(sum({1, kInf, 2}, 1, 3, 1) == Values{kInf});
    CHECK(sum({1, 2, 3, kNaN}, 1, 2, 2)[0] == 4);
    CHECK(std::isnan(sum({1, 2, 3, kNaN}, 1, 2, 2)[1]));
}
