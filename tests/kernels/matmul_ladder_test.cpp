#include "labs/02-kernels/matmul_ladder.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

using Matmul = void (*)(float*, const float*, const float*, int64_t, int64_t, int64_t);

std::vector<float> product_of(Matmul matmul, const std::vector<float>& a,
                              const std::vector<float>& b, int64_t M, int64_t N,
                              int64_t K) {
    std::vector<float> out = unwritten(M * N);
    matmul(out.data(), a.data(), b.data(), M, N, K);
    return out;
}

}  // namespace

TEST_CASE("the rungs of the ladder are bitwise identical, and close to Eigen's product") {
    const auto [M, N, K] = GENERATE(table<int64_t, int64_t, int64_t>({
        {0, 3, 4},
        {3, 0, 4},
        {3, 4, 0},
        {1, 1, 1},
        {3, 5, 7},
        {64, 64, 64},
        {65, 63, 129},   // a panel of 31 columns
        {2, 200, 1100},  // several panels
    }));
    CAPTURE(M, N, K);
    const std::vector<float> a = normal_numbers(M * K, 1), b = normal_numbers(K * N, 2);
    const std::vector<float> naive = product_of(cpu::matmul_naive, a, b, M, N, K);
    CHECK(first_difference(bits(product_of(cpu::matmul_reordered, a, b, M, N, K)),
                           bits(naive)) == kNoDifference);
    CHECK(first_difference(bits(product_of(cpu::matmul_blocked, a, b, M, N, K)),
                           bits(naive)) == kNoDifference);

    // Of integers, all sums are exact.
    const std::vector<float> c = small_integers(M * K, 1), d = small_integers(K * N, 2);
    std::vector<float> eigen = unwritten(M * N);
    cpu::matmul(eigen.data(), c.data(), d.data(), M, N, K);
    for (const Matmul rung :
         {cpu::matmul_naive, cpu::matmul_reordered, cpu::matmul_blocked})
        CHECK(first_difference(product_of(rung, c, d, M, N, K), eigen) == kNoDifference);
}

}  // namespace mini::kernels
