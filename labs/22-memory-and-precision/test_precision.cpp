// The checks of lab 22, task 22.3: a linear layer in 16 bits.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labs/22-memory-and-precision/test_support.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/random/random.hpp"

using namespace mini;
using namespace mini::lab22;

namespace {

constexpr DType kBoth[] = {DType::kBFloat16, DType::kFloat16};

float rounded(float x, DType dtype) {
    return dtype == DType::kBFloat16 ? static_cast<float>(BFloat16(x))
                                     : static_cast<float>(Half(x));
}

// Returns rows of numbers, few of which `dtype` has: of 8 numbers one has a bit too many.
// All sums of products of such numbers are exact in float32.
Tensor awkward(const Shape& shape, DType dtype, float unit, uint64_t seed) {
    Tensor x = Tensor::empty(shape);
    Generator generator(seed);
    for (float& value : x.span<float>()) {
        const int64_t drawn = generator.randint(-4, 4);
        const float odd = dtype == DType::kBFloat16 ? 257.0f : 2049.0f;
        value = unit * (drawn == -4 ? odd : static_cast<float>(drawn));
    }
    return x;
}

// The sum over k of a(i, k) b(k, j), in float32.
float product(const Tensor& a, const Tensor& b, int64_t i, int64_t j) {
    float total = 0;
    for (int64_t k = 0; k < a.size(1); ++k)
        total += static_cast<float>(ops::select(ops::select(a, 0, i), 0, k).item() *
                                    ops::select(ops::select(b, 0, k), 0, j).item());
    return total;
}

// Returns a b + bias, each sum rounded.
Values products(const Tensor& a, const Tensor& b, const Values& bias, DType dtype) {
    Values all;
    for (int64_t i = 0; i < a.size(0); ++i)
        for (int64_t j = 0; j < b.size(1); ++j)
            all.push_back(
                rounded(product(a, b, i, j) + bias[static_cast<size_t>(j)], dtype));
    return all;
}

Tensor low(const Tensor& x, DType dtype) {
    Values all = x.to_vector<float>();
    for (float& value : all) value = rounded(value, dtype);
    return Tensor::from(all, x.shape());
}

// Returns low_precision_linear of one row and one output.
float one(const Values& x, const Values& w, float bias, DType dtype) {
    const auto size = static_cast<int64_t>(x.size());
    return static_cast<float>(low_precision_linear(Tensor::from(x, {1, size}),
                                                   Tensor::from(w, {1, size}),
                                                   Tensor::from(Values{bias}), dtype)
                                  .item());
}

}  // namespace

TEST_CASE("operands and result are rounded, and the sum is not", "[lab22][lab22.3]") {
    const DType bf16 = DType::kBFloat16, fp16 = DType::kFloat16;
    {
        INFO("bfloat16 has 8 bits: 257 is rounded to 256, and 256 + 2 is 258");
        CHECK(one({257, 2}, {1, 1}, 0, bf16) == 258);  // x
        CHECK(one({1, 2}, {257, 1}, 0, bf16) == 258);  // the weight
        CHECK(one({1, 0}, {2, 0}, 257, bf16) == 258);  // the bias
    }
    {
        INFO("255 + 2 = 257 becomes 256, the even neighbour; 259 becomes 260");
        CHECK(one({255, 2}, {1, 1}, 0, bf16) == 256);
        CHECK(one({255, 4}, {1, 1}, 0, bf16) == 260);
        CHECK(one({1, 0}, {255, 0}, 2, bf16) == 256);
    }
    {
        INFO("float16 has 11 bits, and ends at 65504");
        CHECK(one({2049, 2}, {1, 1}, 0, fp16) == 2050);
        CHECK(one({2047, 2}, {1, 1}, 0, fp16) == 2048);
        CHECK(one({300, 0}, {300, 0}, 0, fp16) == INFINITY);
        CHECK(one({300, 0}, {300, 0}, 0, bf16) == 90112);
    }
    INFO("512 products of 1: a sum in bfloat16 would stop at 256, since 256 + 1 is 256");
    CHECK(one(Values(512, 1.0f), Values(512, 1.0f), 0, bf16) == 512);
    INFO("a sum that is rounded once: 256 + 1 + 1 + 1 = 259 becomes 260");
    CHECK(one({256, 1, 1, 1}, {1, 1, 1, 1}, 0, bf16) == 260);
}

TEST_CASE("results and gradients are those of 16-bit tensors", "[lab22][lab22.3]") {
    for (const DType dtype : kBoth)
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            const float unit = dtype == DType::kBFloat16 ? 1.0f : 1.0f / 128;
            Tensor x = awkward({3, 4}, dtype, 1.0f, 10 * seed);
            Tensor w = awkward({5, 4}, dtype, unit, 10 * seed + 1);
            Tensor bias = awkward({5}, dtype, unit, 10 * seed + 2);
            for (Tensor* each : {&x, &w, &bias}) each->set_requires_grad();
            const Tensor g = awkward({3, 5}, dtype, unit, 10 * seed + 3);
            const Tensor y = low_precision_linear(x, w, bias, dtype);
            INFO(dtype << ", seed " << seed);
            const Tensor low_x = low(x, dtype), low_w = low(w, dtype),
                         low_g = low(g, dtype);
            CHECK(y.to_vector<float>() == products(low_x, ops::transpose(low_w, 0, 1),
                                                   low(bias, dtype).to_vector<float>(),
                                                   dtype));
            CHECK(y.dtype() == DType::kFloat32);

            y.backward({.gradient = g});
            const Values zeros(5, 0.0f);
            const Tensor ones = Tensor::ones({1, 3});
            {
                INFO("the gradient of x is g w, of rounded g and w, and rounded");
                CHECK(x.grad().to_vector<float>() ==
                      products(low_g, low_w, zeros, dtype));
            }
            {
                INFO(
                    "the gradient of w is gᵀ x, and that of the bias the sum of g's "
                    "rows");
                CHECK(w.grad().to_vector<float>() ==
                      products(ops::transpose(low_g, 0, 1), low_x, zeros, dtype));
                CHECK(bias.grad().to_vector<float>() ==
                      products(ones, low_g, zeros, dtype));
            }
            INFO("the parameters themselves stay as they are, in float32");
            CHECK(w.to_vector<float>() ==
                  awkward({5, 4}, dtype, unit, 10 * seed + 1).to_vector<float>());
        }
}

TEST_CASE("x may have more dimensions, and the bias may be missing", "[lab22][lab22.3]") {
    const Tensor x = awkward({2, 3, 4}, DType::kBFloat16, 1, 1);
    const Tensor w = awkward({5, 4}, DType::kBFloat16, 1, 2).set_requires_grad();
    const Tensor y = low_precision_linear(x, w, {}, DType::kBFloat16);
    CHECK(y.shape() == Shape{2, 3, 5});
    CHECK(y.to_vector<float>() == products(low(ops::view(x, {6, 4}), DType::kBFloat16),
                                           ops::transpose(low(w, DType::kBFloat16), 0, 1),
                                           Values(5, 0.0f), DType::kBFloat16));
    sum(y).backward();
    CHECK(w.grad().shape() == w.shape());
    for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8})
        CHECK(error_of([&] { low_precision_linear(x, w, {}, dtype); }) != "no error");
}

TEST_CASE("half the bytes are saved for backward", "[lab22][lab22.3]") {
    const Shape shape = GENERATE(Shape{4 * kSize, kSize}, Shape{2, 2 * kSize, kSize});
    for (const DType dtype : kBoth) {
        const size_t before = allocated_bytes();
        Tensor w = draw({kSize, kSize}, 1).set_requires_grad();
        Tensor x = draw(shape, 2);
        const Tensor y = low_precision_linear(x, w, {}, dtype);
        x = w = {};
        const auto kept = static_cast<int64_t>(allocated_bytes() - before);
        INFO("x of shape " << concat(shape)
                           << " has the bytes of four matrices in float32, and "
                           << "the weight of one; both are not used any more");
        INFO("in use: y with four, x with two and the weight with a half, in 16 bits");
        CHECK(kept >= static_cast<int64_t>(6.5 * kMatrix));
        CHECK(kept < static_cast<int64_t>(6.5 * kMatrix) + 2048);
    }
}

TEST_CASE("the recorded inputs are bias, x and w, as those of linear",
          "[lab22][lab22.3]") {
    const Tensor x = Tensor::ones({2, 3}).set_requires_grad();
    const Tensor w = Tensor::ones({4, 3}).set_requires_grad();
    const Tensor bias = Tensor::ones({4}).set_requires_grad();
    const auto inputs_of = [](const Tensor& y) {
        return y.autograd_meta()->grad_fn->inputs();
    };
    const std::vector<std::shared_ptr<Node>> expected{
        grad_accumulator(bias), grad_accumulator(x), grad_accumulator(w)};
    CHECK(inputs_of(linear(x, w, bias)) == expected);
    CHECK(inputs_of(low_precision_linear(x, w, bias, DType::kBFloat16)) == expected);
    INFO("without a bias input 0 is null");
    CHECK(inputs_of(low_precision_linear(x, w, {}, DType::kBFloat16)) ==
          std::vector<std::shared_ptr<Node>>{nullptr, expected[1], expected[2]});
}

TEST_CASE("a small gradient is lost in float16, and not in bfloat16",
          "[lab22][lab22.3]") {
    for (const DType dtype : kBoth) {
        Tensor w = Tensor::ones({1, 1}).set_requires_grad();
        const Tensor y = low_precision_linear(Tensor::ones({1, 1}), w, {}, dtype);
        y.backward({.gradient = Tensor::full({1, 1}, 0x1p-26)});
        INFO("the gradient 2^-26 in " << dtype << ": the least float16 above 0 is 2^-24");
        CHECK(w.grad().item() == (dtype == DType::kFloat16 ? 0.0 : 0x1p-26));
    }
}

TEST_CASE("nn::Linear computes so under an AutocastGuard", "[lab22][lab22.3]") {
    nn::Linear layer(4, 5);
    const Tensor x = awkward({3, 4}, DType::kFloat16, 1, 1);
    const Values in_float32 = layer(x).to_vector<float>();
    Values in_float16;
    {
        const AutocastGuard guard(DType::kFloat16);
        in_float16 = layer(x).to_vector<float>();
        const AutocastGuard off(DType::kFloat32);
        CHECK(layer(x).to_vector<float>() == in_float32);
    }
    CHECK(in_float16 == low_precision_linear(x, layer.weight, layer.bias, DType::kFloat16)
                            .to_vector<float>());
    CHECK(in_float16 != in_float32);
    CHECK(layer(x).to_vector<float>() == in_float32);
}
