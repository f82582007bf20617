#include "libmini/tensor/ops.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE("floats are rounded toward zero to integers, and uint8 keeps the low byte") {
    const float infinity = std::numeric_limits<float>::infinity();
    const Tensor x = Tensor::from(
        std::vector<float>{-1.9f, 257.9f, 3e9f, infinity, -1e30f, std::nanf("")});
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    CHECK(ops::to(x, DType::kInt64).to_vector<int64_t>() ==
          std::vector<int64_t>{-1, 257, 3'000'000'000, kLeast, kLeast, kLeast});
    CHECK(ops::to(x, DType::kUInt8).to_vector<uint8_t>() ==
          std::vector<uint8_t>{255, 1, 0, 0, 0, 0});
    CHECK(ops::to(Tensor::from(std::vector<uint8_t>{0, 255}), DType::kFloat32)
              .to_vector<float>() == Values{0, 255});
}

TEST_CASE("16-bit floats are converted through float32 with rounding to nearest") {
    const Tensor x = Tensor::from(std::vector<float>{0.1f, -2.5f, 70000.0f, 3.0f});
    const Tensor half = ops::to(x, DType::kFloat16), brain = ops::to(x, DType::kBFloat16);
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(ops::to(half, DType::kFloat32).to_vector<float>() ==
          std::vector<float>{0.0999755859375f, -2.5f, infinity, 3.0f});
    CHECK(ops::to(brain, DType::kFloat32).to_vector<float>() ==
          std::vector<float>{0.10009765625f, -2.5f, 70144.0f, 3.0f});
    CHECK(ops::to(half, DType::kInt64).to_vector<int64_t>()[3] == 3);
    CHECK(ops::to(Tensor::from(std::vector<int64_t>{7}), DType::kBFloat16).item() == 7.0);
    CHECK(Tensor::full({2}, 1.5, DType::kFloat16).to_vector<Half>()[1] == Half(1.5f));
    CHECK(ops::equal(half, ops::clone(half)));
}

TEST_CASE("arithmetic broadcasts rows and columns and scalars") {
    const Tensor x = count_up({2, 3});
    CHECK(ops::add(x, Tensor::from(Values{10, 20, 30})).to_vector<float>() ==
          Values{10, 21, 32, 13, 24, 35});
    CHECK(ops::mul(x, Tensor::from(Values{2, 3}, {2, 1})).to_vector<float>() ==
          Values{0, 2, 4, 9, 12, 15});
    CHECK(ops::sub(Tensor::scalar(1), x).to_vector<float>() ==
          Values{1, 0, -1, -2, -3, -4});
    CHECK(ops::div(x, Tensor::scalar(2)).to_vector<float>() ==
          Values{0, 0.5, 1, 1.5, 2, 2.5});
    CHECK(ops::add(Tensor::from(Values{1, 2}, {2, 1}), Tensor::from(Values{10, 20}))
              .to_vector<float>() == Values{11, 21, 12, 22});
    CHECK(ops::add(Tensor::zeros({0, 3}), Tensor::from(Values{1, 2, 3})).shape() ==
          Shape{0, 3});
}

TEST_CASE("arithmetic reads views with any strides") {
    const Tensor x = count_up({2, 3});
    const Tensor t = ops::transpose(count_up({3, 2}), 0, 1);  // 0 2 4 / 1 3 5
    CHECK(ops::add(x, t).to_vector<float>() == Values{0, 3, 6, 4, 7, 10});
}

TEST_CASE("arithmetic throws ShapeError for integers and incompatible shapes") {
    CHECK_THROWS_AS(ops::add(Tensor::zeros({2}, DType::kInt64), Tensor::zeros({2})),
                    ShapeError);
    CHECK_THROWS_AS(ops::add(Tensor::zeros({2}), Tensor::zeros({3})), ShapeError);
}

TEST_CASE("sum_to reverses broadcasting") {
    const Tensor x = count_up({2, 3});
    CHECK(ops::sum_to(x, {3}).to_vector<float>() == Values{3, 5, 7});
    CHECK(ops::sum_to(x, {2, 1}).to_vector<float>() == Values{3, 12});
    CHECK(ops::sum_to(x, {}).item() == 15.0);
    CHECK(ops::sum_to(x, {2, 3}).is_same(x));
}

TEST_CASE("sum accepts any dimensions") {
    const Tensor x = count_up({2, 3, 4});
    CHECK(ops::sum(x).item() == 276.0);
    CHECK(ops::sum(x, {1}, false).to_vector<float>() ==
          Values{12, 15, 18, 21, 48, 51, 54, 57});
    CHECK(ops::sum(x, {0, -1}, true).shape() == Shape{1, 3, 1});
    CHECK(ops::sum(x, {0, -1}, false).to_vector<float>() == Values{60, 92, 124});
    CHECK(
        ops::sum(ops::transpose(count_up({2, 3}), 0, 1), {0}, false).to_vector<float>() ==
        Values{3, 12});
    CHECK(ops::sum(Tensor::zeros({0, 2}), {0}, false).to_vector<float>() == Values{0, 0});
    CHECK_THROWS_AS(ops::sum(x, {3}, false), ShapeError);
    CHECK_THROWS_AS(ops::sum(x, {1, -2}, false), ShapeError);  // names 1 twice
}

TEST_CASE("argmax returns the first maximum along the last dimension") {
    const Tensor x = Tensor::from(Values{1, 5, 5, 7, 2, 7}, {2, 3});
    CHECK(ops::argmax(x).to_vector<int64_t>() == std::vector<int64_t>{1, 0});
    CHECK_THROWS_AS(ops::argmax(Tensor::zeros({2, 0})), ShapeError);
}

TEST_CASE("matmul multiplies matrices and their transposes") {
    const Tensor a = count_up({2, 3});
    const Tensor b = count_up({3, 2});
    const Values product{10, 13, 28, 40};
    CHECK(ops::matmul(a, b).to_vector<float>() == product);
    CHECK(ops::matmul(ops::contiguous(ops::transpose(a, 0, 1)), b, {.transpose_a = true})
              .to_vector<float>() == product);
    CHECK(ops::matmul(a, ops::contiguous(ops::transpose(b, 0, 1)), {.transpose_b = true})
              .to_vector<float>() == product);
    CHECK(ops::matmul(a, ops::transpose(count_up({2, 3}), 0, 1)).shape() == Shape{2, 2});
    CHECK_THROWS_AS(ops::matmul(a, a), ShapeError);
    CHECK_THROWS_AS(ops::matmul(a, count_up({3})), ShapeError);
    CHECK(ops::matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 2})).to_vector<float>() ==
          Values{0, 0, 0, 0});
}

TEST_CASE("in-place operations increment the version and require equal shapes") {
    Tensor x = count_up({3});
    ops::add_(x, Tensor::ones({3}), 2.0f);
    ops::mul_(x, 3.0f);
    CHECK(x.to_vector<float>() == Values{6, 9, 12});
    CHECK(x.version() == 2);
    ops::fill_(x, 1.0f);
    CHECK(x.version() == 3);
    CHECK_THROWS_AS(ops::add_(x, Tensor::ones({1})), ShapeError);
}

TEST_CASE("update_running_ moves running values towards those of a batch") {
    ops::Moments running{Tensor::from(Values{1, -2, 0.5f}),
                         Tensor::from(Values{1, 4, 0.25f})};
    const ops::Moments batch{Tensor::from(Values{3, 2, 0.5f}),
                             Tensor::from(Values{2, 4, 8})};
    ops::update_running_(running, batch, 5, 0.25);  // variances by 5 / 4
    CHECK(running.mean.to_vector<float>() == Values{1.5f, -1, 0.5f});
    CHECK(running.variance.to_vector<float>() == Values{1.375f, 4.25f, 2.6875f});
}

TEST_CASE("equal compares shapes and dtypes and elements and a NaN is never equal") {
    const Tensor x = count_up({2});
    CHECK(ops::equal(x, count_up({2})));
    CHECK_FALSE(ops::equal(x, count_up({2, 1})));
    CHECK_FALSE(ops::equal(x, ops::to(x, DType::kInt64)));
    const Tensor nan = Tensor::full({1}, std::numeric_limits<double>::quiet_NaN());
    CHECK_FALSE(ops::equal(nan, nan));
}

TEST_CASE("conv2d and max_pool2d throw ShapeError for incompatible shapes and windows") {
    const Tensor x = Tensor::zeros({1, 2, 5, 5});
    CHECK_THROWS_AS(ops::conv2d(x, Tensor::zeros({3, 1, 3, 3}), {}, {.kernel = 3}),
                    ShapeError);
    CHECK_THROWS_AS(ops::conv2d(x, Tensor::zeros({3, 2, 6, 6}), {}, {.kernel = 6}),
                    ShapeError);
    CHECK_THROWS_AS(
        ops::conv2d(x, Tensor::zeros({3, 2, 3, 3}), Tensor::zeros({4}), {.kernel = 3}),
        ShapeError);
    CHECK_THROWS_AS(ops::max_pool2d(Tensor::zeros({2, 5, 5}), {.kernel = 2, .stride = 2}),
                    ShapeError);
    CHECK_THROWS_AS(ops::max_pool2d(x, {.kernel = 2, .stride = 0}), ShapeError);
    CHECK_THROWS_AS(ops::max_pool2d(x, {.kernel = 2, .stride = 2, .padding = 2}),
                    ShapeError);
}

TEST_CASE("conv2d throws ShapeError without input channels or output channels") {
    CHECK_THROWS_AS(ops::conv2d(Tensor::zeros({2, 0, 8, 8}), Tensor::zeros({64, 0, 3, 3}),
                                {}, {.kernel = 3}),
                    ShapeError);
    CHECK_THROWS_AS(ops::conv2d(Tensor::zeros({2, 3, 8, 8}), Tensor::zeros({0, 3, 3, 3}),
                                {}, {.kernel = 3}),
                    ShapeError);
    const Tensor none = ops::conv2d(Tensor::zeros({0, 3, 8, 8}),
                                    Tensor::zeros({4, 3, 3, 3}), {}, {.kernel = 3});
    CHECK(none.shape() == Shape{0, 4, 6, 6});
}

TEST_CASE("columns of a matrix serve as bias and as saved result") {
    const Tensor columns =
        ops::transpose(Tensor::from(Values{1, -2, 3, 4}, {2, 2}), 0, 1);
    const Tensor column = ops::select(columns, 0, 0);  // 1 and 3, two elements apart
    REQUIRE_FALSE(column.is_contiguous());
    const Tensor x = count_up({2, 2}),
                 identity = Tensor::from(Values{1, 0, 0, 1}, {2, 2});
    CHECK(ops::linear(x, identity, column).to_vector<float>() == Values{1, 4, 3, 6});
    const Tensor image = Tensor::ones({1, 1, 1, 1}), weight = Tensor::ones({2, 1, 1, 1});
    CHECK(ops::conv2d(image, weight, column, {.kernel = 1}).to_vector<float>() ==
          Values{2, 4});

    const Tensor g = Tensor::from(Values{5, 6, 7, 8}, {2, 2});
    CHECK(ops::relu_backward(g, columns).to_vector<float>() == Values{5, 6, 0, 8});
    CHECK(ops::equal(ops::log_softmax_backward(g, columns),
                     ops::log_softmax_backward(g, ops::contiguous(columns))));
}

using namespace mini::test;

TEST_CASE("views share storage with their base tensor") {
    const Tensor x = count_up({2, 3});
    CHECK(ops::view(x, {3, 2}).shares_storage(x));
    CHECK(ops::transpose(x, 0, 1).shares_storage(x));
}

TEST_CASE("view infers one size of -1") {
    CHECK(ops::view(count_up({2, 6}), {3, -1}).shape() == Shape{3, 4});
    CHECK(ops::view(count_up({4}), {-1}).shape() == Shape{4});
    CHECK_THROWS_AS(ops::view(count_up({4}), {3, -1}), ShapeError);
    CHECK_THROWS_AS(ops::view(count_up({4}), {5}), ShapeError);
    CHECK_THROWS_AS(ops::view(count_up({4}), {-1, -1}), ShapeError);
}

TEST_CASE("view throws for a tensor that is not contiguous and reshape copies it") {
    const Tensor t = ops::transpose(count_up({2, 3}), 0, 1);
    CHECK_THROWS_AS(ops::view(t, {6}), ShapeError);
    CHECK(ops::reshape(t, {6}).to_vector<float>() == Values{0, 3, 1, 4, 2, 5});
}

TEST_CASE("transpose takes dimensions that count from the end") {
    const Tensor t = ops::transpose(count_up({2, 3}), -1, 0);
    CHECK(t.shape() == Shape{3, 2});
    CHECK_FALSE(t.is_contiguous());
    CHECK(t.to_vector<float>() == Values{0, 3, 1, 4, 2, 5});
}

TEST_CASE("copying into a view changes the base tensor") {
    Tensor x = Tensor::zeros({2, 3});
    Tensor column = ops::select(x, 1, 1);
    const uint64_t before = x.version();
    ops::copy_(column, Tensor::from(Values{7, 8}));
    CHECK(x.to_vector<float>() == Values{0, 7, 0, 0, 8, 0});
    CHECK(x.version() == before + 1);
    CHECK_THROWS_AS(ops::copy_(column, Tensor::zeros({3})), ShapeError);
}
