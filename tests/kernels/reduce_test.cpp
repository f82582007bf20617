#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

std::vector<float> sum_of(const std::vector<float>& x, int64_t outer, int64_t reduced,
                          int64_t inner) {
    std::vector<float> out = unwritten(outer * inner);
    cpu::sum(out.data(), x.data(), outer, reduced, inner);
    return out;
}

std::vector<int64_t> argmax_of(const std::vector<float>& x, int64_t rows, int64_t cols) {
    std::vector<int64_t> out(static_cast<size_t>(rows), -1);
    cpu::argmax(out.data(), x.data(), rows, cols);
    return out;
}

}  // namespace

TEST_CASE("a sum over the middle dimension equals a loop over the elements") {
    const int64_t outer = GENERATE(0, 1, 2, 7);
    const int64_t reduced = GENERATE(0, 1, 16, 17, 31, 33, 1000);
    const int64_t inner = GENERATE(0, 1, 2, 5, 64);
    CAPTURE(outer, reduced, inner);

    const std::vector<float> x = small_integers(outer * reduced * inner);
    std::vector<float> expected(static_cast<size_t>(outer * inner));
    for (int64_t i = 0; i < outer; ++i)
        for (int64_t k = 0; k < reduced; ++k)
            for (int64_t j = 0; j < inner; ++j)
                expected[i * inner + j] += x[(i * reduced + k) * inner + j];
    CHECK(first_difference(sum_of(x, outer, reduced, inner), expected) == kNoDifference);
}

TEST_CASE("a sum of ten million floats is accurate") {
    const int64_t inner = GENERATE(1, 5);
    const int64_t n = 2000000 * (inner == 1 ? 5 : 1);
    const std::vector<float> x(static_cast<size_t>(n * inner), 0.1f);

    // With pairwise summation, about 16 + 20 roundings affect each term, not 10^7: the
    // relative error is below 40 * 2^-24.
    const double exact = static_cast<double>(0.1f) * static_cast<double>(n);
    for (const float total : sum_of(x, 1, n, inner))
        CHECK(std::abs(total - exact) / exact < 40 * std::ldexp(1.0, -24));
}

TEST_CASE("a sum is bitwise identical for any number of threads") {
    const std::vector<float> x = normal_numbers(300000);
    CHECK(identical_for_any_threads([&] { return sum_of(x, 1, 300000, 1); }));
    CHECK(identical_for_any_threads([&] { return sum_of(x, 300, 1000, 1); }));
    CHECK(identical_for_any_threads([&] { return sum_of(x, 10, 300, 100); }));
}

TEST_CASE("a sum propagates infinities and NaN") {
    CHECK(sum_of({1, kInf, 2}, 1, 3, 1) == std::vector<float>{kInf});
    CHECK(std::isnan(sum_of({kInf, -kInf}, 1, 2, 1)[0]));
    CHECK(std::isnan(sum_of({1, 2, 3, kNaN}, 1, 2, 2)[1]));
}

TEST_CASE("argmax returns the index of the first greatest element") {
    CHECK(argmax_of({1, 3, 2, 5, 5, 4}, 2, 3) == std::vector<int64_t>{1, 0});
    CHECK(argmax_of({-1, -1, -kInf, -2}, 2, 2) == std::vector<int64_t>{0, 1});
    CHECK(argmax_of({7}, 1, 1) == std::vector<int64_t>{0});
    CHECK(argmax_of({-kInf, -kInf}, 1, 2) == std::vector<int64_t>{0});
    CHECK(argmax_of({}, 0, 3).empty());
}

TEST_CASE("argmax returns the index of the first NaN") {
    CHECK(argmax_of({1, kNaN, kInf, kNaN}, 1, 4) == std::vector<int64_t>{1});
    CHECK(argmax_of({kNaN, 5, kNaN}, 1, 3) == std::vector<int64_t>{0});
    CHECK(argmax_of({kInf, 5, kNaN}, 1, 3) == std::vector<int64_t>{2});
}

}  // namespace mini::kernels
