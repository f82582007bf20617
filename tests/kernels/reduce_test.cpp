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

TEST_CASE("a sum of one row is bitwise identical for any number of threads") {
    const std::vector<float> x = normal_numbers(300000);
    CHECK(identical_for_any_threads([&] { return sum_of(x, 1, 300000, 1); }));
}

TEST_CASE("the sum of opposite infinities is NaN") {
    CHECK(std::isnan(sum_of({kInf, -kInf}, 1, 2, 1)[0]));
}

}  // namespace mini::kernels
