#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {

// M, N and K; the last has several chunks of rows.
constexpr std::array<int64_t, 3> kSizes[] = {
    {0, 3, 4}, {3, 0, 4}, {3, 4, 0},   {1, 1, 1},      {1, 5, 7},     {5, 1, 7},
    {5, 7, 1}, {2, 3, 4}, {17, 33, 9}, {128, 50, 320}, {300, 65, 130}};

TEST_CASE("matmul equals the sum over k for all combinations of transposes") {
    const auto [M, N, K] = GENERATE(from_range(std::begin(kSizes), std::end(kSizes)));
    const bool transpose_a = GENERATE(false, true);
    const bool transpose_b = GENERATE(false, true);
    const bool accumulate = GENERATE(false, true);
    CAPTURE(M, N, K, transpose_a, transpose_b, accumulate);

    const std::vector<float> a = small_integers(M * K, 1), b = small_integers(K * N, 2);
    std::vector<float> out = small_integers(M * N, 3);
    std::vector<float> expected = out;
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            float total = accumulate ? expected[i * N + j] : 0.0f;
            for (int64_t k = 0; k < K; ++k)
                total += a[transpose_a ? k * M + i : i * K + k] *
                         b[transpose_b ? j * K + k : k * N + j];
            expected[i * N + j] = total;
        }

    cpu::matmul(out.data(), a.data(), b.data(), M, N, K,
                {.transpose_a = transpose_a,
                 .transpose_b = transpose_b,
                 .accumulate = accumulate});
    CHECK(first_difference(out, expected) == kNoDifference);
}

TEST_CASE("matmul is bitwise identical for any alignment of the matrices") {
    const int64_t size = GENERATE(1, 3, 4, 5, 20);
    const int64_t M = size, N = size + 1, K = size + 2;
    const int64_t room = 16;  // floats in the widest vector
    CAPTURE(M, N, K);
    const std::vector<float> a = normal_numbers(M * K, 1), b = normal_numbers(K * N, 2);

    // Shift the three matrices by a different number of floats each.
    const auto product = [&](int64_t shift) {
        const int64_t a_at = shift, b_at = 3 * shift % room, out_at = 5 * shift % room;
        std::vector<float> a_copy(a.size() + room), b_copy(b.size() + room);
        std::copy(a.begin(), a.end(), a_copy.begin() + a_at);
        std::copy(b.begin(), b.end(), b_copy.begin() + b_at);
        std::vector<float> out = unwritten(M * N + room);
        cpu::matmul(out.data() + out_at, a_copy.data() + a_at, b_copy.data() + b_at, M, N,
                    K);
        return std::vector<float>(out.begin() + out_at, out.begin() + out_at + M * N);
    };
    const std::vector<float> expected = product(0);
    for (int64_t shift = 1; shift < room; ++shift) {
        CAPTURE(shift);
        CHECK(first_difference(bits(product(shift)), bits(expected)) == kNoDifference);
    }
}

}  // namespace mini::kernels
