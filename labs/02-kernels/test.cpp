// The checks of lab 02, first part: maps over strided arrays, and sums.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "labs/02-kernels/test_support.hpp"
#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

using mini::kernels::BinaryOp, mini::kernels::UnaryOp, mini::kernels::bits,
    mini::kernels::first_difference, mini::kernels::identical_for_any_threads,
    mini::kernels::kInf, mini::kernels::kNaN, mini::kernels::kNoDifference,
    mini::kernels::normal_numbers, mini::kernels::small_integers,
    mini::kernels::unwritten;
using mini::labs::Values, mini::labs::count_up, mini::labs::rows_of;
namespace cpu = mini::kernels::cpu;

namespace {

using Shape = std::vector<int64_t>;

struct Operand {
    Values values;
    Shape strides;
};

// Returns a - b of this shape, by the kernel.
Values difference(const Shape& shape, const Operand& a, const Operand& b) {
    const int64_t n =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    Values out = unwritten(n);
    cpu::binary(BinaryOp::kSub, out.data(), a.values.data(), b.values.data(), shape,
                a.strides, b.strides);
    return out;
}

Values map(UnaryOp op, const Values& x) {
    Values out = unwritten(std::ssize(x));
    cpu::unary(op, out.data(), x.data(), std::ssize(x));
    return out;
}

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

TEST_CASE("a map over contiguous arrays is one run", "[lab02][lab02.1]") {
    INFO("a = 10 20 30, b = 1 2 3, and out = a - b; binary_loop calls binary_run, whose");
    INFO("loop for steps of 1 is given; hint 1 of 02.1");
    CHECK(difference({3}, {{10, 20, 30}, {1}}, {{1, 2, 3}, {1}}) == Values{9, 18, 27});
    INFO("one number on the left or on the right has a step of 0");
    CHECK(difference({3}, {{10, 20, 30}, {1}}, {{1}, {0}}) == Values{9, 19, 29});
    CHECK(difference({3}, {{10}, {0}}, {{1, 2, 3}, {1}}) == Values{9, 8, 7});
    CHECK(difference({}, {{5}, {}}, {{2}, {}}) == Values{3});
    CHECK(difference({2, 0}, {{1}, {0, 1}}, {{1}, {0, 1}}).empty());
}

TEST_CASE("each run begins at the offsets of its operands", "[lab02][lab02.1]") {
    {
        INFO("a is 10 20 30 / 40 50 60, b is the row 1 2 3 for each row of a: two runs;");
        INFO(
            "the second begins at element 3 of out and a, and at element 0 of b; hint 2");
        INFO("of 02.1");
        CHECK(difference({2, 3}, {{10, 20, 30, 40, 50, 60}, {3, 1}},
                         {{1, 2, 3}, {0, 1}}) == Values{9, 18, 27, 39, 48, 57});
    }
    {
        INFO("the same a, and the column 1 / 2: a step of 0 within a run of b");
        CHECK(difference({2, 3}, {{10, 20, 30, 40, 50, 60}, {3, 1}}, {{1, 2}, {1, 0}}) ==
              Values{9, 19, 29, 38, 48, 58});
    }
    INFO("the column on the left");
    CHECK(difference({2, 2}, {{10, 20}, {1, 0}}, {{1, 2, 3, 4}, {2, 1}}) ==
          Values{9, 8, 17, 16});
}

TEST_CASE("a transposed operand is read with its own step", "[lab02][lab02.1]") {
    const Operand matrix{{10, 20, 30, 40, 50, 60}, {1, 3}};  // (2, 3), transposed
    {
        INFO(
            "a is the transpose of 10 20 30 / 40 50 60: shape (3, 2), strides (1, 3); b");
        INFO("is 1 2 / 3 4 / 5 6; no loop of binary_run but the last reads a step of 3;");
        INFO("hint 1 of 02.1");
        CHECK(difference({3, 2}, matrix, {count_up(6), {2, 1}}) ==
              Values{9, 38, 17, 46, 25, 54});
        INFO("and the transpose on the right");
        CHECK(difference({3, 2}, {count_up(6), {2, 1}}, matrix) ==
              Values{-9, -38, -17, -46, -25, -54});
    }
    INFO("steps of 2 and 3: every second number minus every third");
    CHECK(difference({3}, {count_up(6), {2}}, {count_up(9), {3}}) == Values{0, -1, -2});
    INFO("two numbers, both repeated");
    CHECK(difference({3}, {{7}, {0}}, {{5}, {0}}) == Values{2, 2, 2});
}

TEST_CASE("large maps are computed in chunks", "[lab02][lab02.1]") {
    const int64_t rows = 70, columns = 1000;
    const Values a = small_integers(rows * columns, 1), b = small_integers(columns, 2);
    INFO("70 rows of 1000 numbers minus a row, in chunks of 16384 elements; hint 2 of");
    INFO("02.1");
    Values expected;
    for (size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] - b[i % b.size()]);
    const Values whole = difference({rows, columns}, {a, {columns, 1}}, {b, {0, 1}});
    CHECK(first_difference(whole, expected) == kNoDifference);
    INFO("70000 numbers minus themselves: one run, in chunks");
    const Values all = difference({rows * columns}, {a, {1}}, {a, {1}});
    CHECK(first_difference(all, Values(a.size(), 0.0f)) == kNoDifference);
    CHECK(identical_for_any_threads([&] {
        return difference({rows, columns}, {a, {columns, 1}}, {b, {0, 1}});
    }));
}

TEST_CASE("a map of one array visits each element once", "[lab02][lab02.1]") {
    CHECK(map(UnaryOp::kNeg, {1, -2, 0.5f}) == Values{-1, 2, -0.5f});
    CHECK(map(UnaryOp::kNeg, {}).empty());
    const int64_t n = GENERATE(16383, 16384, 16385, 40000);
    INFO(n << " numbers, in chunks of 16384: parallel_for calls the body with the start");
    INFO("and the end of each; hint 2 of 02.1");
    Values x = small_integers(n), expected;
    for (const float value : x) expected.push_back(-value);
    CHECK(first_difference(map(UnaryOp::kNeg, x), expected) == kNoDifference);
    INFO("out may be x itself, so each element must be computed once");
    cpu::unary(UnaryOp::kNeg, x.data(), x.data(), n);
    CHECK(first_difference(x, expected) == kNoDifference);
    CHECK(identical_for_any_threads([&] { return map(UnaryOp::kNeg, expected); }));
}

TEST_CASE("ReLU passes NaN on", "[lab02][lab02.1]") {
    CHECK(map(UnaryOp::kReLU, {-1, 0, 2, kInf, -kInf}) == Values{0, 0, 2, kInf, 0});
    INFO("a comparison with NaN is false: NaN > 0 and NaN < 0, both; hint 2 of 02.1");
    CHECK(std::isnan(map(UnaryOp::kReLU, {kNaN})[0]));
}

TEST_CASE("the rows of a matrix are added", "[lab02][lab02.2]") {
    {
        const Values x = {1, 10, 2, 20, 3, 30};
        INFO("x is " << rows_of(x, 2)
                     << ": three rows, which are added in order; out is");
        INFO("not zero before; hint 1 of 02.2");
        CHECK(sum(x, 1, 3, 2) == Values{6, 60});
    }
    INFO("the sum of no rows is 0");
    CHECK(sum({}, 2, 0, 3) == Values(6, 0.0f));
    CHECK(sum({}, 2, 0, 1) == Values(2, 0.0f));
    CHECK(sum({5, 7}, 1, 1, 2) == Values{5, 7});
}

TEST_CASE("halves of any size are added", "[lab02][lab02.2]") {
    const int64_t rows = GENERATE(16, 17, 18, 32, 33, 67, 1000, 1025);
    const int64_t columns = GENERATE(2, 5);
    CAPTURE(rows, columns);
    const Values x = small_integers(2 * rows * columns);
    Values expected(static_cast<size_t>(2 * columns));
    for (int64_t i = 0; i < 2; ++i)
        for (int64_t k = 0; k < rows; ++k)
            for (int64_t j = 0; j < columns; ++j)
                expected[static_cast<size_t>(i * columns + j)] +=
                    x[static_cast<size_t>((i * rows + k) * columns + j)];
    INFO("two matrices of " << rows << " rows; all sums of these integers are exact, so");
    INFO("the order does not matter here; 17 rows are halves of 8 and 9; hint 2 of 02.2");
    CHECK(sum(x, 2, rows, columns) == expected);
}

TEST_CASE("a long row is summed in 32 columns", "[lab02][lab02.2]") {
    const int64_t n =
        GENERATE(1, 31, 32, 33, 63, 64, 95, 512, 32 * 17, 32 * 17 + 5, 4000);
    const Values x = small_integers(3 * n);
    Values expected(3);
    for (int64_t i = 0; i < 3 * n; ++i)
        expected[static_cast<size_t>(i / n)] += x[static_cast<size_t>(i)];
    INFO("three rows of " << n << " numbers: each has " << n / 32 << " complete rows of");
    INFO("32, and " << n % 32 << " numbers that remain; hint 2 of 02.2");
    CHECK(sum(x, 3, n, 1) == expected);
}

TEST_CASE("a sum of many floats keeps its digits", "[lab02][lab02.2]") {
    // A number of a column takes part in at most 15 additions in order, and in one more
    // for each halving: 14 halvings for 2^18 rows. Each rounds by at most 2^-24.
    const int64_t rows = int64_t{1} << 18;
    const double exact = double{0.1f} * static_cast<double>(rows);
    const float total = sum(Values(static_cast<size_t>(2 * rows), 0.1f), 1, rows, 2)[0];
    INFO("2^18 rows of 0.1, two columns: " << exact << ", yours " << total
                                           << "; in order, each addition to the large");
    INFO("sum loses digits of the small number; hint 1 of 02.2");
    CHECK(relative_error(total, exact) < 29 * std::ldexp(1.0, -24));
}

TEST_CASE("a sum of a long row keeps its digits", "[lab02][lab02.2]") {
    // As above, with 2^15 rows of 32: 15 + 11 additions, and 31 for the columns' sums.
    const int64_t n = int64_t{1} << 20;
    const double exact = double{0.1f} * static_cast<double>(n);
    const float total = sum(Values(static_cast<size_t>(n), 0.1f), 1, n, 1)[0];
    INFO("2^20 times 0.1: " << exact << ", yours " << total << "; hint 2 of 02.2");
    CHECK(relative_error(total, exact) < 57 * std::ldexp(1.0, -24));
}

TEST_CASE("the order of a sum depends only on the extents", "[lab02][lab02.2]") {
    const Values x = normal_numbers(300000);
    CHECK(identical_for_any_threads([&] { return sum(x, 300, 1000, 1); }));
    CHECK(identical_for_any_threads([&] { return sum(x, 10, 300, 100); }));
    INFO("the scratch memory keeps the numbers of the call before; hint 2 of 02.2");
    CHECK(bits(sum(x, 1, 100, 3)) == bits(sum(x, 1, 100, 3)));
    CHECK(sum({1, kInf, 2}, 1, 3, 1) == Values{kInf});
    CHECK(std::isnan(sum({1, 2, 3, kNaN}, 1, 2, 2)[1]));
}
