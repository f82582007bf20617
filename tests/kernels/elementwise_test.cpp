#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

using Shape = std::vector<int64_t>;

int64_t size_of(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Returns the offset, by `strides`, of the element with this row-major index in `shape`.
int64_t offset_of(int64_t index, const Shape& shape, const Shape& strides) {
    int64_t offset = 0;
    for (size_t d = shape.size(); d-- > 0;) {
        offset += index % shape[d] * strides[d];
        index /= shape[d];
    }
    return offset;
}

float apply(BinaryOp op, float a, float b) {
    switch (op) {
        case BinaryOp::kAdd: return a + b;
        case BinaryOp::kSub: return a - b;
        case BinaryOp::kMul: return a * b;
        case BinaryOp::kDiv: return a / b;
    }
    return kNaN;
}

std::vector<float> unary_of(UnaryOp op, const std::vector<float>& x) {
    std::vector<float> out = unwritten(static_cast<int64_t>(x.size()));
    cpu::unary(op, out.data(), x.data(), static_cast<int64_t>(x.size()));
    return out;
}

struct Operands {
    Shape shape, a_strides, b_strides;
};

}  // namespace

TEST_CASE("a binary operation reads each operand with its own strides") {
    const Operands operands = GENERATE(values<Operands>({
        {{}, {}, {}},                                  // two scalars
        {{1}, {1}, {1}},                               // one element
        {{7}, {1}, {1}},                               // contiguous
        {{7}, {1}, {0}},                               // a scalar on the right
        {{7}, {0}, {1}},                               // a scalar on the left
        {{7}, {0}, {0}},                               // two scalars, broadcast
        {{7}, {2}, {-1}},                              // every other element; reversed
        {{5, 3}, {3, 1}, {0, 1}},                      // a row
        {{5, 3}, {3, 1}, {1, 0}},                      // a column
        {{5, 3}, {1, 5}, {3, 1}},                      // a transpose
        {{2, 3, 4, 5}, {60, 20, 5, 1}, {0, 1, 0, 0}},  // one number per channel
        {{2, 1, 3, 1, 4}, {12, 9, 4, 9, 1}, {0, 0, 1, 0, 3}},  // dimensions of extent 1
        {{3, 0, 4}, {0, 4, 1}, {0, 4, 1}},                     // empty
        {{300, 200}, {200, 1}, {0, 1}},                        // several chunks of rows
        {{50000}, {1}, {0}},  // several chunks of one row
    }));
    const Shape &shape = operands.shape, &a_strides = operands.a_strides,
                &b_strides = operands.b_strides;
    const auto op =
        GENERATE(BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv);
    CAPTURE(shape, a_strides, b_strides, static_cast<int>(op));

    const int64_t n = size_of(shape);
    const int64_t middle = 60000;  // room for negative strides
    static const std::vector<float> a = normal_numbers(2 * middle, 1),
                                    b = normal_numbers(2 * middle, 2);
    std::vector<float> expected;
    for (int64_t i = 0; i < n; ++i)
        expected.push_back(apply(op, a[middle + offset_of(i, shape, a_strides)],
                                 b[middle + offset_of(i, shape, b_strides)]));

    std::vector<float> out = unwritten(n);
    cpu::binary(op, out.data(), a.data() + middle, b.data() + middle, shape, a_strides,
                b_strides);
    CHECK(first_difference(bits(out), bits(expected)) == kNoDifference);

    CHECK(identical_for_any_threads([&] {
        std::vector<float> again = unwritten(n);
        cpu::binary(op, again.data(), a.data() + middle, b.data() + middle, shape,
                    a_strides, b_strides);
        return again;
    }));
}

TEST_CASE("a binary operation can overwrite its operand") {
    std::vector<float> a = {1, 2, 3}, b = {10, 20, 30};
    const Shape shape = {3}, strides = {1};
    cpu::binary(BinaryOp::kAdd, a.data(), a.data(), b.data(), shape, strides, strides);
    CHECK(a == std::vector<float>{11, 22, 33});
}

TEST_CASE("unary operations return the mathematical values") {
    CHECK(unary_of(UnaryOp::kNeg, {1, -2, 0.5f}) == std::vector<float>{-1, 2, -0.5f});
    CHECK(unary_of(UnaryOp::kExp, {0, -kInf, kInf}) == std::vector<float>{1, 0, kInf});
    CHECK(unary_of(UnaryOp::kLog, {1, 0, kInf}) == std::vector<float>{0, -kInf, kInf});
    CHECK(unary_of(UnaryOp::kSqrt, {0, 1, 4, 2.25f}) ==
          std::vector<float>{0, 1, 2, 1.5f});
    CHECK(unary_of(UnaryOp::kReLU, {-1, 0, 2, kInf, -kInf}) ==
          std::vector<float>{0, 0, 2, kInf, 0});
    CHECK(unary_of(UnaryOp::kSigmoid, {0, 200, -200}) == std::vector<float>{0.5f, 1, 0});
    CHECK(unary_of(UnaryOp::kTanh, {0, 50, -50}) == std::vector<float>{0, 1, -1});

    // exp(1), log(2), sigmoid(1) and tanh(1) are not exact: each may be off by one
    // rounding.
    CHECK(std::abs(unary_of(UnaryOp::kExp, {1})[0] - 2.7182818f) < 3e-7f);
    CHECK(std::abs(unary_of(UnaryOp::kLog, {2})[0] - 0.6931472f) < 1e-7f);
    CHECK(std::abs(unary_of(UnaryOp::kSigmoid, {1})[0] - 0.7310586f) < 1e-7f);
    CHECK(std::abs(unary_of(UnaryOp::kTanh, {1})[0] - 0.7615942f) < 1e-7f);
}

TEST_CASE("GELU and its slope are those of the exact error function") {
    std::vector<float> x;
    for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) * 2e-3f);
    const auto gelu = unary_of(UnaryOp::kGELU, x),
               slope = unary_of(UnaryOp::kGELUSlope, x);
    for (size_t i = 0; i < x.size(); ++i) {
        const double v = x[i], cdf = 0.5 + 0.5 * std::erf(v / std::sqrt(2.0));
        const double density = std::exp(-0.5 * v * v) / std::sqrt(2.0 * M_PI);
        // The error function is off by up to 4e-7, so cdf by 2e-7, and twice a rounding.
        CAPTURE(v);
        CHECK(std::abs(gelu[i] - v * cdf) <= 3e-7 * std::max(1.0, std::abs(v)));
        CHECK(std::abs(slope[i] - (cdf + v * density)) <= 4e-7);
    }
}

TEST_CASE("every unary operation returns NaN for NaN") {
    const auto op = GENERATE(UnaryOp::kNeg, UnaryOp::kExp, UnaryOp::kLog, UnaryOp::kSqrt,
                             UnaryOp::kReLU, UnaryOp::kSigmoid, UnaryOp::kTanh,
                             UnaryOp::kGELU, UnaryOp::kGELUSlope);
    const std::vector<float> out = unary_of(op, std::vector<float>(19, kNaN));
    for (const float value : out) CHECK(std::isnan(value));
}

TEST_CASE("an element's result does not depend on its index") {
    const auto op =
        GENERATE(UnaryOp::kExp, UnaryOp::kLog, UnaryOp::kSqrt, UnaryOp::kSigmoid,
                 UnaryOp::kTanh, UnaryOp::kGELU, UnaryOp::kGELUSlope);
    static const std::vector<float> x = normal_numbers(40000);
    const std::vector<float> whole = unary_of(op, x);
    for (const int64_t i : {0, 1, 17, 16383, 16384, 39999}) {
        CAPTURE(i);
        CHECK(bits(unary_of(op, {x[i]})) == bits({whole[i]}));
    }
    CHECK(identical_for_any_threads([&] { return unary_of(op, x); }));
}

TEST_CASE("relu_backward passes the gradient where the output is positive or NaN") {
    const std::vector<float> y = {0, 1, 0, 3, 0, kNaN}, g = {1, 2, kNaN, 4, kInf, 5};
    std::vector<float> out = unwritten(6);
    cpu::relu_backward(out.data(), g.data(), y.data(), 6);
    CHECK(out == std::vector<float>{0, 2, 0, 4, 0, 5});
}

TEST_CASE("axpy and scale and fill are correct for any length") {
    const int64_t n = GENERATE(0, 1, 15, 16, 17, 16384, 40000);
    CAPTURE(n);
    const std::vector<float> x = small_integers(n, 1), y = small_integers(n, 2);
    std::vector<float> expected;

    std::vector<float> out = y;
    cpu::axpy(out.data(), x.data(), -3.0f, n);
    for (int64_t i = 0; i < n; ++i) expected.push_back(y[i] - 3.0f * x[i]);
    CHECK(first_difference(out, expected) == kNoDifference);

    out = x;
    expected = x;
    cpu::scale(out.data(), 0.5f, n);
    for (float& value : expected) value *= 0.5f;
    CHECK(first_difference(out, expected) == kNoDifference);

    cpu::fill(out.data(), 7.0f, n);
    CHECK(std::count(out.begin(), out.end(), 7.0f) == n);
}

TEST_CASE("copy_strided and copy_to_strided copy items of any size") {
    const int64_t item_bytes = GENERATE(1, 4, 8, 12);
    const auto [shape, strides, unused] = GENERATE(values<Operands>({
        {{}, {}, {}},
        {{5}, {3}, {}},
        {{4, 6}, {6, 1}, {}},  // contiguous
        {{4, 6}, {1, 4}, {}},  // a transpose
        {{4, 3}, {8, 1}, {}},  // a part of longer rows
        {{2, 3, 4}, {1, 8, 2}, {}},
        {{3, 0}, {1, 1}, {}},
        {{200, 300}, {1, 200}, {}},                // several chunks
        {{67, 131}, {1, 70}, {}},                  // a transpose with gaps
        {{3, 40, 2, 9}, {2000, 1, 1000, 41}, {}},  // several matrices
        {{70, 3, 40}, {1, 2800, 70}, {}},
    }));
    CAPTURE(item_bytes, shape, strides);
    const int64_t n = size_of(shape), room = 60000;

    std::vector<std::byte> x(static_cast<size_t>(room * item_bytes));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::byte>(i * 7 + i / 251);

    // Gather the items and compare each.
    std::vector<std::byte> packed(static_cast<size_t>(n * item_bytes));
    cpu::copy_strided(packed.data(), x.data(), shape, strides, item_bytes);
    int64_t different = 0;
    for (int64_t i = 0; i < n; ++i)
        different += std::memcmp(packed.data() + i * item_bytes,
                                 x.data() + offset_of(i, shape, strides) * item_bytes,
                                 static_cast<size_t>(item_bytes)) != 0;
    CHECK(different == 0);

    // Scatter the items into zeros: each item is at its old offset, and all other bytes
    // stay zero.
    std::vector<std::byte> back(x.size()), expected(x.size());
    cpu::copy_to_strided(back.data(), packed.data(), shape, strides, item_bytes);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t at = offset_of(i, shape, strides) * item_bytes;
        std::memcpy(expected.data() + at, x.data() + at, static_cast<size_t>(item_bytes));
    }
    CHECK((back == expected));
}

}  // namespace mini::kernels
