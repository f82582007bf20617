#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

struct Pooled {
    std::vector<float> y;
    std::vector<int32_t> where;
};

Pooled pool(const std::vector<float>& x, const ImageExtents& in, const Window& window) {
    const int64_t size = in.N * in.C * window.output(in.H) * window.output(in.W);
    Pooled out = {unwritten(size), std::vector<int32_t>(static_cast<size_t>(size), -1)};
    cpu::max_pool2d(out.y.data(), out.where.data(), x.data(), in, window);
    return out;
}

// Appends the pooling of one plane by its definition: compares every element of every
// window, in row-major order.
void append_plane(Pooled& out, const float* x, const ImageExtents& in,
                  const Window& window) {
    for (int64_t i = 0; i < window.output(in.H); ++i)
        for (int64_t j = 0; j < window.output(in.W); ++j) {
            float best = -kInf;
            int32_t place = -1;
            for (int64_t tap = 0; tap < window.kernel * window.kernel; ++tap) {
                const int64_t h =
                    i * window.stride + tap / window.kernel - window.padding;
                const int64_t w =
                    j * window.stride + tap % window.kernel - window.padding;
                if (h < 0 || h >= in.H || w < 0 || w >= in.W) continue;
                const float value = x[h * in.W + w];
                if (place >= 0 && !(value > best) && !std::isnan(value)) continue;
                best = value;
                place = static_cast<int32_t>(h * in.W + w);
            }
            out.y.push_back(best);
            out.where.push_back(place);
        }
}

Pooled pool_by_definition(const std::vector<float>& x, const ImageExtents& in,
                          const Window& window) {
    Pooled out;
    for (int64_t plane = 0; plane < in.N * in.C; ++plane)
        append_plane(out, x.data() + plane * in.H * in.W, in, window);
    return out;
}

struct PoolProblem {
    ImageExtents in;
    Window window;
};

}  // namespace

TEST_CASE("max pooling and its gradient equal their definitions") {
    const auto [in, window] = GENERATE(values<PoolProblem>({
        {{1, 1, 2, 2}, {2, 2, 0}},
        {{3, 10, 24, 24}, {2, 2, 0}},  // the tutorial's first pooling
        {{2, 20, 8, 8}, {2, 2, 0}},    // the tutorial's second pooling
        {{2, 3, 7, 5}, {2, 2, 0}},     // a last row and column without a window
        {{2, 3, 4, 8}, {2, 2, 0}},     // 8 outputs in two rows
        {{2, 3, 2, 32}, {2, 2, 0}},    // 16 in one row
        {{2, 3, 6, 8}, {2, 2, 0}},     // 12 in three rows
        {{2, 3, 6, 34}, {2, 2, 0}},    // 17, 13 and 5 outputs per row
        {{2, 3, 4, 26}, {2, 2, 0}},
        {{2, 3, 6, 11}, {2, 2, 0}},
        {{0, 3, 8, 8}, {2, 2, 0}},      // no images
        {{2, 3, 8, 8}, {2, 1, 0}},      // overlapping windows
        {{2, 2, 9, 7}, {3, 2, 1}},      // overlapping windows and padding
        {{2, 2, 9, 7}, {2, 3, 0}},      // gaps between windows
        {{1, 2, 5, 5}, {1, 1, 0}},      // the identity
        {{200, 3, 12, 12}, {2, 2, 0}},  // several chunks of planes
    }));
    CAPTURE(in.N, in.C, in.H, in.W, window.kernel, window.stride, window.padding);

    // Small integers have many ties.
    const std::vector<float> x = small_integers(in.N * in.C * in.H * in.W);
    const Pooled expected = pool_by_definition(x, in, window);
    const Pooled out = pool(x, in, window);
    CHECK(first_difference(out.y, expected.y) == kNoDifference);
    REQUIRE(first_difference(out.where, expected.where) ==
            kNoDifference);  // used as an index below

    std::vector<float> g = small_integers(static_cast<int64_t>(out.y.size()), 2);
    if (!g.empty()) g.front() = -0.0f;  // a sum that begins with 0 is not -0
    const size_t planes = static_cast<size_t>(in.N * in.C);
    const size_t plane_size = static_cast<size_t>(in.H * in.W);
    std::vector<float> expected_dx(x.size());
    for (size_t k = 0; k < g.size(); ++k)
        expected_dx[k / (g.size() / planes) * plane_size + out.where[k]] += g[k];
    std::vector<float> dx = unwritten(static_cast<int64_t>(x.size()));
    cpu::max_pool2d_backward(dx.data(), g.data(), out.where.data(), in, window);
    CHECK(first_difference(bits(dx), bits(expected_dx)) == kNoDifference);
}

TEST_CASE("max pooling never selects padding even if all elements are minus infinity") {
    const Pooled out = pool(std::vector<float>(9, -kInf), {1, 1, 3, 3}, {2, 2, 1});
    CHECK(out.y == std::vector<float>(4, -kInf));
    CHECK(out.where == std::vector<int32_t>{0, 1, 3, 4});
}

TEST_CASE("max pooling selects NaN at any position of the window") {
    const int place = GENERATE(0, 1, 2, 3);
    const bool overlapping = GENERATE(false, true);
    CAPTURE(place, overlapping);

    // Either 24 adjacent windows of 2 x 2 with one NaN each, or one window.
    const int64_t W = overlapping ? 2 : 48;
    std::vector<float> x(static_cast<size_t>(2 * W), kInf);
    for (int64_t j = 0; j < W / 2; ++j) x[place / 2 * W + 2 * j + place % 2] = kNaN;

    const Pooled out = pool(x, {1, 1, 2, W}, {2, overlapping ? 1 : 2, 0});
    for (size_t j = 0; j < out.y.size(); ++j) {
        CHECK(std::isnan(out.y[j]));
        CHECK(out.where[j] == place / 2 * W + 2 * static_cast<int64_t>(j) + place % 2);
    }
}

TEST_CASE("max pooling is bitwise identical for any number of threads") {
    const ImageExtents in = {50, 4, 14, 14};
    const std::vector<float> x = normal_numbers(50 * 4 * 14 * 14);
    CHECK(identical_for_any_threads([&] { return pool(x, in, {2, 2, 0}).y; }));
    CHECK(identical_for_any_threads([&] { return pool(x, in, {3, 1, 1}).y; }));

    const Pooled out = pool(x, in, {3, 1, 1});
    CHECK(identical_for_any_threads([&] {
        std::vector<float> dx = unwritten(static_cast<int64_t>(x.size()));
        cpu::max_pool2d_backward(dx.data(), out.y.data(), out.where.data(), in,
                                 {3, 1, 1});
        return dx;
    }));
}

}  // namespace mini::kernels
