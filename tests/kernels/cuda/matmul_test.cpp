#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/cuda/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

constexpr size_t kGuard = 512;  // floats after each array

struct Sizes {
    int64_t M, N, K;
};

std::vector<float> product_of(const std::vector<float>& a, const std::vector<float>& b,
                              std::vector<float> out, Sizes sizes,
                              MatmulOptions options = {}, size_t shift = 0) {
    const OnDevice<float> device_a(a, shift, kGuard), device_b(b, shift, kGuard),
        device_out(out, shift, kGuard);
    cuda::matmul(device_out, device_a, device_b, sizes.M, sizes.N, sizes.K, options,
                 nullptr);
    return device_out.read();
}

// The last two have rows of complete float4s that end inside a tile, and one row and one
// column more than whole tiles.
constexpr Sizes kSizes[] = {{0, 3, 4},     {3, 0, 4},     {3, 4, 0},     {1, 1, 1},
                            {1, 5, 7},     {5, 1, 7},     {5, 7, 1},     {17, 33, 9},
                            {64, 128, 32}, {130, 68, 20}, {129, 257, 41}};

// The inputs are integers from -4 to 4, exact in all formats; the sums of their
// products are exact in float32.
TEST_CASE("a product equals the CPU's product bitwise for sizes that are not whole tiles",
          "[large]") {
    const auto [M, N, K] = GENERATE(from_range(std::begin(kSizes), std::end(kSizes)));
    const int stored = GENERATE(range(0, 4));
    const MatmulOptions options = {.transpose_a = stored % 2 == 1,
                                   .transpose_b = stored / 2 == 1,
                                   .accumulate = GENERATE(false, true)};
    CAPTURE(M, N, K, options.transpose_a, options.transpose_b, options.accumulate);

    const std::vector<float> a = small_integers(M * K, 1), b = small_integers(K * N, 2);
    const std::vector<float> before = small_integers(M * N, 3);
    std::vector<float> expected = before;
    cpu::matmul(expected.data(), a.data(), b.data(), M, N, K, options);

    const auto result = product_of(a, b, before, {M, N, K}, options);
    CHECK(first_difference(result, expected) == kNoDifference);
}

TEST_CASE("products of matrices with any alignment") {
    const size_t shift = GENERATE(1, 2, 3);
    const bool transposed = GENERATE(false, true);
    const Sizes sizes = {.M = 36, .N = 132, .K = 24};
    CAPTURE(shift, transposed);
    const std::vector<float> a = small_integers(sizes.M * sizes.K, 1);
    const std::vector<float> b = small_integers(sizes.K * sizes.N, 2);
    const MatmulOptions options = {.transpose_a = transposed, .transpose_b = transposed};

    const auto expected = product_of(a, b, unwritten(sizes.M * sizes.N), sizes, options);
    const auto result =
        product_of(a, b, unwritten(sizes.M * sizes.N), sizes, options, shift);
    CHECK(first_difference(bits(result), bits(expected)) == kNoDifference);
}

// Adding K products in float32 adds an error of at most K times 2^-24 times the sum of the
// absolute values.
TEST_CASE("a product has at most the rounding error of float32") {
    const Sizes sizes = {.M = 40, .N = 50, .K = 300};
    const std::vector<float> a = normal_numbers(sizes.M * sizes.K, 1);
    const std::vector<float> b = normal_numbers(sizes.K * sizes.N, 2);
    const auto result = product_of(a, b, unwritten(sizes.M * sizes.N), sizes);

    const double sum = 2.0 * static_cast<double>(sizes.K + 1) * 0x1p-24;
    double worst = 0;  // maximum of error / allowed error
    for (int64_t i = 0; i < sizes.M; ++i)
        for (int64_t j = 0; j < sizes.N; ++j) {
            double exact = 0, absolute = 0;
            for (int64_t k = 0; k < sizes.K; ++k) {
                const double term = double{a[static_cast<size_t>(i * sizes.K + k)]} *
                                    double{b[static_cast<size_t>(k * sizes.N + j)]};
                exact += term;
                absolute += std::abs(term);
            }
            const double error =
                std::abs(double{result[static_cast<size_t>(i * sizes.N + j)]} - exact);
            worst = std::max(worst, error / (absolute * sum));
        }
    CHECK(worst <= 1.0);
}

TEST_CASE("a product on the device is bitwise identical in repeated runs", "[large]") {
    const Sizes sizes = {.M = 70, .N = 90, .K = 200};
    const std::vector<float> a = normal_numbers(sizes.M * sizes.K, 1);
    const std::vector<float> b = normal_numbers(sizes.K * sizes.N, 2);
    CHECK(identical_for_any_threads(
        [&] { return product_of(a, b, unwritten(sizes.M * sizes.N), sizes); }));
}

TEST_CASE("NaN in a row of a makes only that row of the product NaN") {
    std::vector<float> a(20 * 30, 1.0f);
    a[7 * 30 + 3] = kNaN;
    const std::vector<float> b(30 * 40, 1.0f);
    const auto result = product_of(a, b, unwritten(20 * 40), {20, 40, 30});
    for (size_t i = 0; i < result.size(); ++i) {
        CAPTURE(i / 40, i % 40);
        REQUIRE(std::isnan(result[i]) == (i / 40 == 7));
    }
}

}  // namespace
}  // namespace mini::kernels
