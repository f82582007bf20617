// The checks of lab 02, third part: the ladder of matrix products, and Eigen's.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "labs/02-kernels/matmul_ladder.hpp"
#include "labs/02-kernels/test_support.hpp"
#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

using mini::kernels::first_difference, mini::kernels::identical_for_any_threads,
    mini::kernels::kNaN, mini::kernels::kNoDifference, mini::kernels::MatmulOptions,
    mini::kernels::normal_numbers, mini::kernels::small_integers,
    mini::kernels::unwritten;
using mini::labs::Values, mini::labs::count_up, mini::labs::product_by_definition,
    mini::labs::rows_of;
namespace cpu = mini::kernels::cpu;

namespace {

struct Variant {
    const char* name;
    void (*matmul)(float*, const float*, const float*, int64_t, int64_t, int64_t);
    Values operator()(const Values& a, const Values& b, int64_t M, int64_t N,
                      int64_t K) const {
        Values out = unwritten(M * N);
        matmul(out.data(), a.data(), b.data(), M, N, K);
        return out;
    }
};

const Variant kNaive{"matmul_naive", cpu::matmul_naive};
const Variant kReordered{"matmul_reordered", cpu::matmul_reordered};
const Variant kBlocked{"matmul_blocked", cpu::matmul_blocked};

// Requires that a variant's product of integers is exact.
void check_product(const Variant& variant, int64_t M, int64_t N, int64_t K) {
    const Values a = small_integers(M * K, 1), b = small_integers(K * N, 2);
    const Values expected = product_by_definition({}, {a, K, 1}, {b, N, 1}, M, N, K);
    const Values out = variant(a, b, M, N, K);
    const int64_t wrong = first_difference(out, expected);
    if (wrong == kNoDifference) return;
    const auto at = static_cast<size_t>(wrong);
    INFO(variant.name << " of (" << M << ", " << K << ") and (" << K << ", " << N
                      << "): element (" << wrong / N << ", " << wrong % N
                      << ") should be " << expected[at] << ", yours is " << out[at]);
    FAIL("a product of integers is wrong");
}

void check_by_hand(const Variant& variant) {
    const Values out = variant(count_up(6), {7, 8, 9, 10, 11, 12}, 2, 2, 3);
    INFO(
        "a is 1 2 3 / 4 5 6, b is 7 8 / 9 10 / 11 12: element (0, 0) is 1 * 7 + 2 * 9 +");
    INFO("3 * 11 = 58; " << variant.name << " gives " << rows_of(out, 2));
    CHECK(out == Values{58, 64, 139, 154});
}

// Returns out + a b or a b by matmul; `out` must have the size of the result.
Values eigen(Values out, const Values& a, const Values& b, int64_t M, int64_t N,
             int64_t K, MatmulOptions options) {
    cpu::matmul(out.data(), a.data(), b.data(), M, N, K, options);
    return out;
}

}  // namespace

TEST_CASE("the three variants compute a product by hand", "[lab02][lab02.3]") {
    check_by_hand(kNaive);
    check_by_hand(kReordered);
    check_by_hand(kBlocked);
}

TEST_CASE("the three variants compute products of any shape", "[lab02][lab02.3]") {
    const auto [M, N, K] = GENERATE(table<int64_t, int64_t, int64_t>({
        {1, 1, 1},
        {3, 5, 7},
        {1, 9, 4},
        {9, 1, 4},
        {64, 64, 64},
        {5, 100, 130},
        {65, 63, 129},
        {3, 200, 64},
    }));
    INFO("if N is not a multiple of 32, the last panel is narrower");
    check_product(kNaive, M, N, K);
    check_product(kReordered, M, N, K);
    check_product(kBlocked, M, N, K);
}

TEST_CASE("a sum of no products is 0", "[lab02][lab02.3]") {
    INFO("K = 0: out is not zero before, and must be");
    for (const Variant& variant : {kNaive, kReordered, kBlocked}) {
        INFO(variant.name);
        CHECK(variant({}, {}, 2, 3, 0) == Values(6, 0.0f));
        CHECK(variant({}, {1, 2}, 0, 2, 1).empty());
        CHECK(variant({1, 2}, {}, 2, 0, 1).empty());
    }
}

TEST_CASE("the three variants lose few digits", "[lab02][lab02.3]") {
    // The products of an element are at most 1 in size, so an order of additions rounds
    // by at most K^2 2^-24; random numbers stay far below it.
    const int64_t M = 3, N = 150, K = 200;
    Values a = normal_numbers(M * K, 1), b = normal_numbers(K * N, 2);
    for (float& value : a) value /= 8;
    for (float& value : b) value /= 8;
    const Values expected = product_by_definition({}, {a, K, 1}, {b, N, 1}, M, N, K);
    for (const Variant& variant : {kNaive, kReordered, kBlocked}) {
        const Values out = variant(a, b, M, N, K);
        double worst = 0;
        for (size_t i = 0; i < out.size(); ++i)
            worst = std::max(worst, std::abs(double{out[i]} - double{expected[i]}));
        INFO(variant.name << ": the largest error of the elements is " << worst);
        CHECK(worst < 1e-5);
    }
}

TEST_CASE("Eigen multiplies arrays as matrices", "[lab02][lab02.5]") {
    const Values a = count_up(6), b = {7, 8, 9, 10, 11, 12};
    {
        const Values out = eigen(unwritten(4), a, b, 2, 2, 3, {});
        INFO("a is 1 2 3 / 4 5 6, b is 7 8 / 9 10 / 11 12; yours " << rows_of(out, 2));
        CHECK(out == Values{58, 64, 139, 154});
    }
    {
        INFO("a product replaces what was in out, also NaN");
        CHECK(eigen(Values(4, kNaN), a, b, 2, 2, 3, {}) == Values{58, 64, 139, 154});
    }
    INFO("with accumulate it is added: 100 more in each element");
    CHECK(eigen(Values(4, 100), a, b, 2, 2, 3, {.accumulate = true}) ==
          Values{158, 164, 239, 254});
    INFO("K = 0: a sum of no products");
    CHECK(eigen(unwritten(2), {}, {}, 1, 2, 0, {}) == Values{0, 0});
    CHECK(eigen({3, 4}, {}, {}, 1, 2, 0, {.accumulate = true}) == Values{3, 4});
}

TEST_CASE("a transposed operand is stored the other way round", "[lab02][lab02.5]") {
    const bool transpose_a = GENERATE(false, true), transpose_b = GENERATE(false, true);
    const bool accumulate = GENERATE(false, true);
    const auto [M, N, K] = GENERATE(
        table<int64_t, int64_t, int64_t>({{2, 3, 4}, {1, 5, 7}, {5, 1, 3}, {9, 8, 10}}));
    const Values a = small_integers(M * K, 1), b = small_integers(K * N, 2);
    const Values before = small_integers(M * N, 3);
    INFO("M = " << M << ", N = " << N << ", K = " << K << "; a is stored as "
                << (transpose_a ? "(K, M)" : "(M, K)") << ", b as "
                << (transpose_b ? "(N, K)" : "(K, N)")
                << (accumulate ? ", out += a b" : ", out = a b"));
    const Values expected = product_by_definition(
        accumulate ? before : Values{}, {a, transpose_a ? 1 : K, transpose_a ? M : 1},
        {b, transpose_b ? 1 : N, transpose_b ? K : 1}, M, N, K);
    CHECK(eigen(before, a, b, M, N, K,
                {.transpose_a = transpose_a,
                 .transpose_b = transpose_b,
                 .accumulate = accumulate}) == expected);
}

TEST_CASE("many rows are multiplied in chunks", "[lab02][lab02.5]") {
    // Chunks have at least 128 rows, and 2^22 multiplications.
    const int64_t M = 300, N = 160, K = 170;
    const bool transpose_a = GENERATE(false, true), accumulate = GENERATE(false, true);
    const MatmulOptions options{.transpose_a = transpose_a, .accumulate = accumulate};
    const Values a = small_integers(M * K, 1), b = small_integers(K * N, 2);
    const Values before = small_integers(M * N, 3);
    INFO("300 rows in chunks of 154: the second chunk begins at row 154, in a and in");
    INFO("out, and each row is computed once");
    const Values expected = product_by_definition(
        accumulate ? before : Values{}, {a, transpose_a ? 1 : K, transpose_a ? M : 1},
        {b, N, 1}, M, N, K);
    CHECK(first_difference(eigen(before, a, b, M, N, K, options), expected) ==
          kNoDifference);
    CHECK(
        identical_for_any_threads([&] { return eigen(before, a, b, M, N, K, options); }));
}
