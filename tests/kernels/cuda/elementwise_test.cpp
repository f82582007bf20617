#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

using Extents = std::vector<int64_t>;

int64_t count(const Extents& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

constexpr BinaryOp kBinaryOps[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                                   BinaryOp::kDiv};
constexpr UnaryOp kUnaryOps[] = {UnaryOp::kNeg,  UnaryOp::kExp,  UnaryOp::kLog,
                                 UnaryOp::kSqrt, UnaryOp::kReLU, UnaryOp::kSigmoid,
                                 UnaryOp::kTanh, UnaryOp::kGELU, UnaryOp::kGELUSlope};

// Two operands, broadcast or permuted: their strides and sizes.
struct Pair {
    const char* name;
    Extents shape, a_strides, b_strides;
    int64_t a_size, b_size;
};

TEST_CASE("binary operations are bitwise identical to the CPU's for all strides") {
    const auto pair = GENERATE(values<Pair>({
        {"empty", {0}, {1}, {1}, 0, 0},
        {"an empty matrix", {3, 0, 2}, {0, 2, 1}, {0, 0, 1}, 0, 2},
        {"a scalar", {}, {}, {}, 1, 1},
        {"rows", {3, 11}, {11, 1}, {11, 1}, 33, 33},
        {"a scalar on the right", {1000}, {1}, {0}, 1000, 1},
        {"a scalar on the left", {257}, {0}, {1}, 1, 257},
        {"a bias of four", {31, 8}, {8, 1}, {0, 1}, 248, 8},
        {"a bias of three", {33, 3}, {3, 1}, {0, 1}, 99, 3},
        {"a column", {5, 8}, {8, 1}, {1, 0}, 40, 5},
        {"an outer sum", {7, 12}, {1, 0}, {0, 1}, 7, 12},
        {"channels", {2, 3, 10}, {30, 10, 1}, {0, 1, 0}, 60, 3},
        {"a transpose", {5, 9}, {1, 5}, {9, 1}, 45, 45},
        {"misaligned rows of eight", {4, 8}, {9, 1}, {8, 1}, 35, 32},
    }));
    const auto op = GENERATE(from_range(std::begin(kBinaryOps), std::end(kBinaryOps)));
    const size_t skip = GENERATE(0, 1);
    CAPTURE(pair.name, static_cast<int>(op), skip);

    Both a(normal_numbers(pair.a_size, 1), skip), b(normal_numbers(pair.b_size, 2), skip);
    Both out(unwritten(count(pair.shape)));
    run_both<cpu::binary, cuda::binary>(op, out, a, b, pair.shape, pair.a_strides,
                                        pair.b_strides);
    CHECK(bits(out.read()) == bits(out.host));
}

TEST_CASE(
    "a binary operation supports more dimensions than a single kernel launch does") {
    // Ten dimensions of extent 2. The operand `a` has its dimensions in reverse order in
    // memory, so that no two dimensions can be merged.
    const Extents shape(10, 2);
    Extents a_strides(10), b_strides(10);
    for (size_t d = 0; d < 10; ++d) {
        a_strides[d] = int64_t{1} << d;
        b_strides[d] = int64_t{512} >> d;
    }
    Both a(small_integers(1024, 1)), b(small_integers(1024, 2)), out(unwritten(1024));
    run_both<cpu::binary, cuda::binary>(BinaryOp::kSub, out, a, b, shape, a_strides,
                                        b_strides);
    CHECK(first_difference(out.read(), out.host) == kNoDifference);
}

TEST_CASE("unary operations equal the CPU's results") {
    const int64_t n = GENERATE(0, 1, 31, 33, 255, 257, 1000);
    const auto op = GENERATE(from_range(std::begin(kUnaryOps), std::end(kUnaryOps)));
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, static_cast<int>(op), skip);

    auto values = normal_numbers(n);
    if (n > 30) {
        values[3] = kNaN;
        values[4] = kInf;
        values[5] = -kInf;
        values[6] = -0.0f;
    }
    Both x(values, skip), out(unwritten(n), skip);
    run_both<cpu::unary, cuda::unary>(op, out, x, n);

    // exp, log, sigmoid and tanh may differ in the last digits.
    CHECK(max_error(out.read(), out.host) <= 8 * kUnitRoundoff);
}

TEST_CASE("relu_backward and axpy and scale and fill equal the CPU's results") {
    const int64_t n = GENERATE(0, 1, 31, 33, 255, 257, 1000);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, skip);
    auto results = small_integers(n, 2);
    Both a(normal_numbers(n, 1), skip), b(results, skip), out(unwritten(n), skip);

    if (n > 1) results[1] = kNaN;
    Both y(results, skip);
    run_both<cpu::relu_backward, cuda::relu_backward>(out, a, y, n);
    CHECK(bits(out.read()) == bits(out.host));

    // The CPU and the GPU may round the product and the sum once (fused) or twice.
    run_both<cpu::axpy, cuda::axpy>(a, b, 0.3f, n);
    CHECK(max_error(a.read(), a.host) <= 4 * kUnitRoundoff);

    run_both<cpu::scale, cuda::scale>(b, -0.7f, n);
    CHECK(bits(b.read()) == bits(b.host));

    cuda::fill(out.device, 2.5f, n, nullptr);
    CHECK(out.read() == std::vector<float>(static_cast<size_t>(n), 2.5f));
}

TEST_CASE("an embedding and its gradient are bitwise identical to the CPU's") {
    const int64_t n = GENERATE(0, 1, 100), rows = 7, cols = GENERATE(1, 5, 300);
    CAPTURE(n, cols);
    std::vector<int64_t> rows_of(static_cast<size_t>(n));
    for (size_t i = 0; i < rows_of.size(); ++i)
        rows_of[i] = static_cast<int64_t>(i * i % 6);  // repeated; row 6 has no index
    Both indices(rows_of);
    Both weight(normal_numbers(rows * cols, 1)), g(normal_numbers(n * cols, 2));
    Both out(unwritten(n * cols)), dweight(unwritten(rows * cols));
    run_both<cpu::embedding, cuda::embedding>(out, weight, indices, n, rows, cols);
    CHECK(bits(out.read()) == bits(out.host));
    run_both<cpu::embedding_backward, cuda::embedding_backward>(dweight, g, indices, n,
                                                                rows, cols);
    CHECK(bits(dweight.read()) == bits(dweight.host));
}

TEST_CASE("on a GPU an index outside the table gives NaN and no gradient") {
    const OnDevice<int64_t> indices({1, 2, -1});
    const OnDevice<float> weight({1, 2}), g({3, 4, 5});
    const auto out = unwritten_on_device(3), dweight = unwritten_on_device(2);
    cuda::embedding(out, weight, indices, 3, 2, 1, nullptr);
    cuda::embedding_backward(dweight, g, indices, 3, 2, 1, nullptr);
    CHECK(max_error(out.read(), {2, kNaN, kNaN}) == 0.0f);
    CHECK(dweight.read() == std::vector<float>{0, 3});
}

// A strided layout within `size` items.
struct Layout {
    const char* name;
    Extents shape, strides;
    int64_t size;
};

TEST_CASE("copy_strided and copy_to_strided copy every item") {
    const auto layout = GENERATE(values<Layout>({
        {"empty", {0, 3}, {3, 1}, 0},
        {"one item", {}, {}, 1},
        {"a run", {1000}, {1}, 1000},
        {"every third", {33}, {3}, 99},
        {"a transpose", {31, 33}, {1, 31}, 1023},
        {"rows of eight", {5, 8}, {16, 1}, 80},
        {"misaligned rows of eight", {5, 8}, {11, 1}, 55},
        {"a permutation", {4, 3, 10}, {10, 40, 1}, 120},
        {"a large transpose", {70, 45}, {1, 70}, 3150},
        {"a batch of transposes", {3, 40, 37}, {1480, 1, 40}, 4440},
        {"channels last to first", {2, 3, 17, 19}, {969, 1, 57, 3}, 1938},
        {"many channels last to first", {2, 20, 5, 7}, {700, 1, 140, 20}, 1400},
        {"a transpose with gaps", {33, 2, 40}, {1, 2000, 50}, 4000},
        {"transposed pairs", {20, 18, 2}, {2, 40, 1}, 720},
    }));
    const int64_t item_bytes = GENERATE(1, 2, 4, 8);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(layout.name, item_bytes, skip);

    const auto random_bytes = [&](int64_t items, unsigned seed) {
        std::vector<std::byte> bytes;
        for (const float digit : small_integers(items * item_bytes, seed))
            bytes.push_back(static_cast<std::byte>(static_cast<int>(digit) + 4));
        return bytes;
    };
    const size_t skipped = skip * static_cast<size_t>(item_bytes);
    Both x(random_bytes(layout.size, 1), skipped);
    Both y(random_bytes(count(layout.shape), 2), skipped), packed(y.host, skipped);
    run_both<cpu::copy_strided, cuda::copy_strided>(packed, x, layout.shape,
                                                    layout.strides, item_bytes);
    CHECK(first_difference(packed.read(), packed.host) == kNoDifference);
    run_both<cpu::copy_to_strided, cuda::copy_to_strided>(x, y, layout.shape,
                                                          layout.strides, item_bytes);
    CHECK(first_difference(x.read(), x.host) == kNoDifference);
}

}  // namespace
}  // namespace mini::kernels
