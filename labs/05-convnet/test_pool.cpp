// The checks of lab 05, task 05.3: max pooling and its gradient.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/kernels/cpu/pool_plane.hpp"

using namespace mini;
using namespace mini::lab05;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Pooled {
    Values y;
    std::vector<int32_t> indices;
};

// Pools a plane of H x W.
Pooled pool(const Values& x, int64_t H, int64_t W, Window window) {
    const int64_t size = window.output(H) * window.output(W);
    Pooled pooled{unwritten(size), std::vector<int32_t>(static_cast<size_t>(size), -1)};
    kernels::cpu::max_pool_plane(pooled.y.data(), pooled.indices.data(), x.data(), H, W,
                                 window);
    return pooled;
}

Values spread(const Values& g, const std::vector<int32_t>& indices, int64_t H,
              int64_t W) {
    Values dx = unwritten(H * W);
    kernels::cpu::max_pool_plane_backward(dx.data(), g.data(), indices.data(), H, W,
                                          std::ssize(g));
    return dx;
}

std::string list(const std::vector<int32_t>& indices) {
    std::string text;
    for (const int32_t index : indices) text += concat(text.empty() ? "" : " ", index);
    return text;
}

}  // namespace

TEST_CASE("an output of max pooling is the maximum of its window, with its index",
          "[lab05][lab05.3]") {
    const Pooled got = pool({1, 5, 2, 7, 3, 4, 0, 8, 6}, 3, 3, {2, 1, 0});
    INFO("the plane 1 5 2 / 7 3 4 / 0 8 6, windows of 2 x 2 with stride 1");
    INFO("expected the maxima 7 5 / 8 8 at the indices 3 1 / 7 7: an index is h W + w");
    INFO("yours " << rows_of(got.y, 2) << " at " << list(got.indices)
                  << "; -1: not written");
    CHECK(got.y == Values{7, 5, 8, 8});
    CHECK(got.indices == std::vector<int32_t>{3, 1, 7, 7});
}

TEST_CASE("windows of max pooling are a stride apart", "[lab05][lab05.3]") {
    const Pooled got = pool(count_up(28), 4, 7, {3, 2, 0});
    INFO("a plane of 4 rows of 7, 1 to 28, windows of 3 x 3 with stride 2: 1 row of 3");
    INFO("expected 17 19 21, yours " << rows_of(got.y, 3));
    CHECK(got.y == Values{17, 19, 21});
    CHECK(got.indices == std::vector<int32_t>{16, 18, 20});
}

TEST_CASE("padding is never the maximum", "[lab05][lab05.3]") {
    const Pooled got = pool({-4, -3, -2, -1}, 2, 2, {2, 1, 1});
    INFO("the plane -4 -3 / -2 -1 with padding 1: 3 x 3 windows, all elements negative");
    INFO("padding counts as minus infinity, not as 0: the part of a window that is");
    INFO("padding is left out; the first begins at row -1 and ends before row 1, so it");
    INFO("has row 0 only; expected -4 -3 -3 / -2 -1 -1 / -2 -1 -1");
    INFO("yours " << rows_of(got.y, 3) << " at " << list(got.indices));
    CHECK(got.y == Values{-4, -3, -3, -2, -1, -1, -2, -1, -1});
    CHECK(got.indices == std::vector<int32_t>{0, 1, 1, 2, 3, 3, 2, 3, 3});
}

TEST_CASE("of equal elements the first wins, and NaN wins over numbers",
          "[lab05][lab05.3]") {
    const Pooled equal = pool({1, 5, 5, 5, 5, 1}, 2, 3, {2, 1, 0});
    INFO("the plane 1 5 5 / 5 5 1: the first 5 of each window, row by row");
    INFO("expected the indices 1 1, yours " << list(equal.indices));
    CHECK(equal.indices == std::vector<int32_t>{1, 1});
    const Pooled nan = pool({1, kNaN, 9, 2, 3, 4}, 2, 3, {2, 1, 0});
    INFO("the plane 1 nan 9 / 2 3 4: both windows have the NaN, at index 1");
    INFO("your indices " << list(nan.indices));
    CHECK(nan.indices == std::vector<int32_t>{1, 1});
    const Pooled least = pool(Values(4, -kInfinity), 2, 2, {2, 1, 1});
    INFO("a plane of minus infinities has a maximum, too, and it is inside the plane");
    INFO("your indices " << list(least.indices));
    CHECK(least.indices == std::vector<int32_t>{0, 0, 1, 0, 0, 1, 2, 2, 3});
}

TEST_CASE("max pooling equals its definition for every geometry", "[lab05][lab05.3]") {
    struct Problem {
        int64_t H, W;
        Window window;
    };
    for (const auto& [H, W, window] :
         {Problem{3, 7, {3, 2, 1}}, Problem{8, 3, {2, 3, 1}}, Problem{5, 4, {4, 1, 2}},
          Problem{4, 6, {1, 2, 0}}}) {
        const Values x = small_integers(H * W, 1);
        const int64_t Ho = window.output(H), Wo = window.output(W);
        Values expected;
        std::vector<int32_t> indices;
        for (int64_t k = 0; k < Ho * Wo; ++k) {
            const int64_t i = k / Wo, j = k % Wo;
            float greatest = -kInfinity;
            int64_t index = -1;
            for (int64_t h = 0; h < H; ++h)
                for (int64_t w = 0; w < W; ++w) {
                    const int64_t p = h - (i * window.stride - window.padding);
                    const int64_t q = w - (j * window.stride - window.padding);
                    if (p < 0 || p >= window.kernel || q < 0 || q >= window.kernel)
                        continue;
                    const float value = x[h * W + w];
                    if (value > greatest) index = h * W + w;
                    greatest = std::max(greatest, value);
                }
            expected.push_back(greatest);
            indices.push_back(static_cast<int32_t>(index));
        }
        INFO("a plane of " << H << " x " << W << ", windows of " << window.kernel << " x "
                           << window.kernel << ", stride " << window.stride
                           << ", padding " << window.padding);
        const Pooled got = pool(x, H, W, window);
        check_equal("y", got.y, expected, {Ho, Wo});
        INFO("the indices should be " << list(indices) << ", yours "
                                      << list(got.indices));
        CHECK(got.indices == indices);
    }
}

TEST_CASE("the gradient goes to the maximum, once for each window that it won",
          "[lab05][lab05.3]") {
    const Values dx = spread({1, 10, 100, 1000}, {3, 1, 7, 7}, 3, 3);
    INFO("windows of 2 x 2 with stride 1 on 3 x 3; their maxima were at 3 1 7 7; g is");
    INFO("1 10 100 1000: element 7 won two windows, and gets 1100");
    INFO("expected 0 10 0 / 1 0 0 / 0 1100 0, yours " << rows_of(dx, 3)
                                                      << "; nan: not set to 0 first");
    CHECK(dx == Values{0, 10, 0, 1, 0, 0, 0, 1100, 0});
}

TEST_CASE("elements outside all windows have the gradient 0", "[lab05][lab05.3]") {
    const Values dx = spread({5, 6, 7, 8}, {0, 2, 6, 8}, 3, 3);
    INFO("windows of 1 x 1 with stride 2 on 3 x 3, g = 5 6 7 8 at 0 2 6 8");
    INFO("yours " << rows_of(dx, 3));
    CHECK(dx == Values{5, 0, 6, 0, 0, 0, 7, 0, 8});
}
