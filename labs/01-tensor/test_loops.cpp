// The checks of lab 01, third part: a loop over several strided arrays in few, long runs.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "labs/01-tensor/test_support.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/tensor/shape.hpp"
#include "tests/support/catch.hpp"

using mini::Shape, mini::concat;
using mini::kernels::cpu::StridedLoop;
using mini::labs::positions;

namespace {

// Returns the merged dimensions in words, innermost first: "3 of (1, 0), 2 of (3, 1)" is
// an inner loop of 3 steps of (1, 0), and an outer one of 2 steps of (3, 1).
template <size_t Arrays>
std::string merged(const Shape& shape, const std::array<Shape, Arrays>& strides) {
    std::array<std::span<const int64_t>, Arrays> spans;
    for (size_t k = 0; k < Arrays; ++k) spans[k] = strides[k];
    const StridedLoop<Arrays> loop(shape, spans);
    std::string text;
    for (const auto& dimension : loop.dimensions()) {
        const Shape steps(dimension.strides.begin(), dimension.strides.end());
        text += concat(text.empty() ? "" : ", ", dimension.extent, " of ", steps);
    }
    return text;
}

std::string merged(const Shape& shape, const Shape& strides) {
    return merged<1>(shape, {strides});
}

// Visits a layout by for_each_run, and requires that each element is visited once, in
// order, at its position in both arrays. Returns the number of calls.
int visit(const Shape& shape, const Shape& a, const Shape& b) {
    const std::vector<int64_t> in_a = positions(shape, a, 0),
                               in_b = positions(shape, b, 0);
    const StridedLoop<2> loop(shape, {a, b});
    INFO("shape " << concat(shape) << ", strides " << concat(a) << " and " << concat(b)
                  << ", merged: " << merged<2>(shape, {a, b}));
    int calls = 0;
    size_t next = 0;
    loop.for_each_run(
        [&](int64_t n, int64_t first, const std::array<int64_t, 2>& offsets) {
            ++calls;
            REQUIRE(static_cast<size_t>(first) == next);
            REQUIRE(next + static_cast<size_t>(n) <= in_a.size());
            for (int64_t i = 0; i < n; ++i, ++next) {
                const int64_t at_a = offsets[0] + i * loop.steps()[0];
                const int64_t at_b = offsets[1] + i * loop.steps()[1];
                if (at_a == in_a[next] && at_b == in_b[next]) continue;
                INFO("element " << next << " is at " << in_a[next]
                                << " in the first array and " << in_b[next]
                                << " in the second; the loop reads " << at_a << " and "
                                << at_b);
                FAIL("an element is read at a wrong position");
            }
        });
    CHECK(next == in_a.size());
    return calls;
}

}  // namespace

TEST_CASE("a contiguous array is one run", "[lab01][lab01.6]") {
    {
        INFO(
            "shape (2, 3, 4), strides (12, 4, 1): 3 rows of 4 are a run of 12, because "
            "4");
        INFO("steps of 1 are one step of 4; and so 2 matrices of 12");
        CHECK(merged({2, 3, 4}, {12, 4, 1}) == "24 of (1,)");
        CHECK(merged({5}, {1}) == "5 of (1,)");
    }
    INFO("every second element is a run, too, with steps of 2");
    CHECK(merged({3, 4}, {8, 2}) == "12 of (2,)");
    INFO("so is one element that is repeated: 3 steps of 0 are as far as one step of 0");
    CHECK(merged({2, 3}, {0, 0}) == "6 of (0,)");
}

TEST_CASE("a gap ends the run", "[lab01][lab01.6]") {
    {
        INFO(
            "two of four columns, shape (3, 2), strides (4, 1): 2 steps of 1 do not "
            "reach");
        INFO("the next row");
        CHECK(merged({3, 2}, {4, 1}) == "2 of (1,), 3 of (4,)");
    }
    {
        INFO("a transpose, shape (3, 2), strides (1, 3)");
        CHECK(merged({3, 2}, {1, 3}) == "2 of (3,), 3 of (1,)");
    }
    {
        INFO("a row that is repeated, shape (4, 3), strides (0, 1)");
        CHECK(merged({4, 3}, {0, 1}) == "3 of (1,), 4 of (0,)");
    }
    INFO(
        "behind the gap, dimensions merge again: shape (2, 3, 4), strides (15, 5, 1) of");
    INFO("rows of 5; 3 steps of 5 are as far as one of 15");
    CHECK(merged({2, 3, 4}, {15, 5, 1}) == "4 of (1,), 6 of (5,)");
    INFO("and before it: shape (2, 3, 4), strides (24, 4, 1)");
    CHECK(merged({2, 3, 4}, {24, 4, 1}) == "12 of (1,), 2 of (24,)");
}

TEST_CASE("a dimension of size 1 is left out", "[lab01][lab01.6]") {
    INFO("its stride is not used, so it must not end a run");
    CHECK(merged({3, 1, 4}, {4, 99, 1}) == "12 of (1,)");
    CHECK(merged({1, 3, 2}, {7, 4, 1}) == "2 of (1,), 3 of (4,)");
    CHECK(merged({3, 4, 1}, {4, 1, 5}) == "12 of (1,)");
    INFO("if nothing is left, the loop has one run of one element, as for a scalar");
    CHECK(merged({1, 1}, {3, 7}) == "1 of (0,)");
    CHECK(merged({}, {}) == "1 of (0,)");
}

TEST_CASE("dimensions merge only if every array allows it", "[lab01][lab01.6]") {
    {
        INFO("a (128, 50) is contiguous, b is a row of 50 that is repeated");
        CHECK(merged<2>({128, 50}, {Shape{50, 1}, Shape{0, 1}}) ==
              "50 of (1, 1), 128 of (50, 0)");
        INFO("and the other way round");
        CHECK(merged<2>({128, 50}, {Shape{0, 1}, Shape{50, 1}}) ==
              "50 of (1, 1), 128 of (0, 50)");
    }
    CHECK(merged<2>({4, 6}, {Shape{6, 1}, Shape{6, 1}}) == "24 of (1, 1)");
    {
        INFO("a batch (8, 3, 5, 5) and a number per channel: rows and columns merge");
        CHECK(merged<2>({8, 3, 5, 5}, {Shape{75, 25, 5, 1}, Shape{0, 1, 0, 0}}) ==
              "25 of (1, 0), 3 of (25, 1), 8 of (75, 0)");
    }
}

TEST_CASE("the loop reads each element at its position in both arrays",
          "[lab01][lab01.6]") {
    INFO("for_each_run, which is given, calls your offsets_of");
    CHECK(visit({2, 3}, {3, 1}, {3, 1}) == 1);
    CHECK(visit({4, 3}, {3, 1}, {0, 1}) == 4);
    CHECK(visit({3, 4}, {4, 1}, {1, 3}) == 3);
    CHECK(visit({2, 3, 4}, {12, 4, 1}, {1, 2, 6}) == 6);
    CHECK(visit({2, 3, 4, 5}, {60, 20, 5, 1}, {0, 5, 0, 1}) == 24);
    CHECK(visit({2, 1, 3, 2, 4}, {1, 9, 2, 6, 12}, {24, 0, 8, 4, 1}) == 12);
    CHECK(visit({}, {}, {}) == 1);
    CHECK(visit({2, 0, 3}, {3, 3, 1}, {0, 3, 1}) == 0);
}

TEST_CASE("a long loop begins its pieces in the middle of a run", "[lab01][lab01.6]") {
    INFO(
        "for_each_run cuts after 16384 elements, so that threads can share the work: it");
    INFO("asks offsets_of for element `index` of a run, and for runs in the middle of a");
    INFO("row");
    CHECK(visit({40000}, {2}, {3}) == 3);
    CHECK(visit({50, 1000}, {1000, 1}, {2000, 2}) == 4);
    CHECK(visit({700, 30, 2}, {90, 3, 1}, {60, 2, 1}) == 21000);
    CHECK(visit({3, 7000, 3}, {21000, 3, 1}, {3, 9, 1}) == 21000);
}
