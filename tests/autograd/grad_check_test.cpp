// Compares the gradients of every differentiable function with central differences.

#include "libmini/autograd/grad_check.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/composed/functions.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

using namespace mini;

namespace {

using Inputs = std::vector<Tensor>;
using Values = std::vector<float>;

// Returns distinct values in (-1, 1) plus `shift`, in random order. They differ by more
// than the step of the central differences, so that no step crosses relu's kink or a tie
// in max_pool2d.
Tensor spread(const Shape& shape, float shift = 0.0f, uint64_t seed = 1) {
    const int64_t n = element_count(shape);
    Generator generator(seed);
    const std::vector<int64_t> order = randperm(n, generator);
    std::vector<float> values;
    for (const int64_t index : order)
        values.push_back((2.0f * static_cast<float>(index) + 1.0f) /
                             static_cast<float>(n) -
                         1.0f + shift);
    return Tensor::from(values, shape);
}

void check(const std::function<Tensor(const Inputs&)>& function, const Inputs& inputs) {
    const GradCheckResult result = grad_check(function, inputs, {.step = 5e-3});
    INFO(result.message);
    CHECK(result.ok);
}

}  // namespace

TEST_CASE("arithmetic has correct gradients with and without broadcasting") {
    const Inputs same{spread({2, 3}), spread({2, 3}, 2.0f, 2)};
    const Inputs row{spread({2, 3}), spread({3}, 2.0f, 2)};
    const Inputs column{spread({2, 1}), spread({2, 3}, 2.0f, 2)};
    const Inputs outer{spread({3, 1}), spread({1, 4}, 2.0f, 2)};
    const Inputs scalar{spread({}), spread({2, 2}, 2.0f, 2)};
    for (const Inputs& inputs : {same, row, column, outer, scalar}) {
        check([](const Inputs& x) { return x[0] + x[1]; }, inputs);
        check([](const Inputs& x) { return x[0] - x[1]; }, inputs);
        check([](const Inputs& x) { return x[0] * x[1]; }, inputs);
        check([](const Inputs& x) { return x[0] / x[1]; }, inputs);
        check([](const Inputs& x) { return 1 - 2 / (3 + 2 * x[1]) + x[0]; }, inputs);
    }
    CHECK((1 - Tensor::scalar(3)).item() == -2);
    CHECK((2 / Tensor::scalar(4)).item() == 0.5);
}

TEST_CASE("elementwise functions have correct gradients") {
    const Inputs all_signs{spread({3, 4})};
    const Inputs positive{spread({3, 4}, 2.0f)};
    check([](const Inputs& x) { return -x[0]; }, all_signs);
    check([](const Inputs& x) { return exp(x[0]); }, all_signs);
    check([](const Inputs& x) { return log(x[0]); }, positive);
    check([](const Inputs& x) { return mini::sqrt(x[0]); }, positive);
    check([](const Inputs& x) { return relu(x[0]); }, all_signs);
    check([](const Inputs& x) { return sigmoid(x[0]); }, all_signs);
    check([](const Inputs& x) { return mini::tanh(x[0]); }, all_signs);
    check([](const Inputs& x) { return gelu(x[0] * 3.0f); }, all_signs);
}

TEST_CASE("sums and means over any dimensions have correct gradients") {
    const Inputs x{spread({2, 3, 4})};
    check([](const Inputs& x) { return sum(x[0] * x[0]); }, x);
    check([](const Inputs& x) { return mean(x[0] * x[0]); }, x);
    check([](const Inputs& x) { return sum(x[0] * x[0], {1}); }, x);
    check([](const Inputs& x) { return sum(x[0] * x[0], {0, -1}, true); }, x);
    check([](const Inputs& x) { return mean(x[0] * x[0], {-1, 1}); }, x);
}

TEST_CASE("matrix products have correct gradients") {
    check([](const Inputs& x) { return matmul(x[0], x[1]); },
          {spread({3, 4}), spread({4, 2})});
    check([](const Inputs& x) { return matmul(x[0], x[0]); }, {spread({3, 3})});
    check([](const Inputs& x) { return matmul(x[0], transpose(x[1], 0, 1)); },
          {spread({3, 4}), spread({2, 4})});
    check([](const Inputs& x) { return linear(x[0], x[1], x[2]); },
          {spread({5, 3}), spread({2, 3}), spread({2})});
    check([](const Inputs& x) { return linear(x[0], x[1]); },
          {spread({1, 3}), spread({2, 3})});
    check([](const Inputs& x) { return linear(x[0], x[1], x[2]); },
          {spread({2, 2, 3}), spread({2, 3}), spread({2})});
    check([](const Inputs& x) { return bmm(x[0], x[1]); },
          {spread({2, 3, 4}), spread({2, 4, 2})});
    check(
        [](const Inputs& x) { return bmm(transpose(x[0], 1, 2), transpose(x[1], 0, 1)); },
        {spread({2, 4, 3}), spread({4, 2, 2})});
}

TEST_CASE("the functions of a transformer have correct gradients") {
    const Tensor indices = Tensor::from(std::vector<int64_t>{3, 0, 3, 1, 3, 0}, {3, 2});
    check([&](const Inputs& x) { return embedding(indices, x[0]); }, {spread({4, 3})});
    check([](const Inputs& x) { return softmax(x[0]); }, {spread({2, 3, 4})});
    check([](const Inputs& x) { return layer_norm(x[0]); }, {spread({4, 5})});
    check([](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); },
          {spread({2, 3, 4}), spread({4}, 2.0f), spread({4})});
    for (const bool is_causal : {false, true})
        check(
            [&](const Inputs& x) {
                return scaled_dot_product_attention(x[0], x[1], x[2],
                                                    {.is_causal = is_causal});
            },
            {spread({2, 3, 2}), spread({2, 4, 2}), spread({2, 4, 3})});
}

TEST_CASE("views have correct gradients") {
    const Inputs x{spread({2, 3, 4})};
    const auto squared = [](const Tensor& y) { return y * y; };
    check([&](const Inputs& x) { return squared(view(x[0], {6, -1})); }, x);
    check([&](const Inputs& x) { return squared(reshape(transpose(x[0], 0, 2), {-1})); },
          x);
    check([&](const Inputs& x) { return squared(flatten(x[0], 1)); }, x);
    check([&](const Inputs& x) { return squared(permute(x[0], {2, 0, -2})); }, x);
    check([&](const Inputs& x) { return squared(transpose(x[0], -1, 0)); }, x);
    check([&](const Inputs& x) { return squared(narrow(x[0], 2, -3, 2)); }, x);
    check([&](const Inputs& x) { return squared(select(x[0], 1, -1)); }, x);
    check([&](const Inputs& x) { return squared(x[0][-1][{-2, 9}]); }, x);
    check([&](const Inputs& x) { return squared(squeeze(unsqueeze(x[0], -1), 3)); }, x);
    check([&](const Inputs& x) { return squared(expand(x[0], {3, 2, 3, 4})); }, x);
}

TEST_CASE("an index and a slice select what they select in Python") {
    const Tensor x = Tensor::from(Values{0, 1, 2, 3, 4, 5}, {3, 2});
    CHECK(x[-1].to_vector<float>() == Values{4, 5});
    CHECK(x[{1, 2}].to_vector<float>() == Values{2, 3});
    CHECK(x[{.start = -2}].to_vector<float>() == Values{2, 3, 4, 5});
    CHECK(x[{.end = -2}].shape() == Shape{1, 2});
    CHECK(x[{-9, 9}].shape() == Shape{3, 2});
    CHECK(x[{2, 1}].shape() == Shape{0, 2});
    for (const int64_t outside : {3, -4}) CHECK_THROWS_AS(x[outside], ShapeError);
    CHECK_THROWS_AS(x[0][0][0], ShapeError);
}

TEST_CASE("joined tensors and softmax of any dimension have PyTorch's values") {
    const Tensor x = spread({2, 3}), y = spread({2, 1}, 2.0f);
    check([](const Inputs& x) { return cat({x[0], x[1] * x[1], x[0]}, -1); }, {x, y});
    check([](const Inputs& x) { return stack({x[0], x[0] * x[0]}, 1); }, {x});
    const Tensor joined = cat({x, y}, 1), swapped = ops::transpose(x, 0, 1);
    CHECK(ops::equal(joined[1][{0, 3}], x[1]));
    CHECK(joined[1][3].item() == y[1].item());
    CHECK(unsqueeze(swapped, 1).shape() == Shape{3, 1, 2});
    CHECK(unsqueeze(swapped, 1).shares_storage(x));
    CHECK_THROWS_AS(cat({x, y}), ShapeError);
    CHECK_THROWS_AS(cat({}), ShapeError);
    for (const int64_t dim : {0, 1, -1}) {
        check([&](const Inputs& x) { return softmax(x[0], dim); }, {spread({2, 3, 2})});
        check([&](const Inputs& x) { return log_softmax(x[0], dim); },
              {spread({2, 3, 2})});
        for (const float total : sum(softmax(x, dim), {dim}).to_vector<float>())
            CHECK(std::abs(total - 1) < 1e-6f);
    }
    manual_seed(0);  // tests/golden/draws_misc.json: rand(1), randn(1)
    CHECK(rand({1}).item() == std::bit_cast<float>(0x3efe1558u));
    CHECK(randn({1}).item() == std::bit_cast<float>(0x3e54358au));
}

TEST_CASE("clip_grad_norm_ scales all gradients by one factor, in place") {
    Tensor a = Tensor::zeros({2}), b = Tensor::zeros({1, 1}), without = a.new_zeros({5});
    a.set_grad(Tensor::from(Values{3, 0}));
    b.set_grad(Tensor::from(Values{-4}, {1, 1}));
    const Tensor of_a = a.grad();
    for (const float enough : {6.0f, INFINITY})
        CHECK(clip_grad_norm_({a, without, b}, enough).item() == 5);
    CHECK(of_a.to_vector<float>() == Values{3, 0});  // below the limit: the same bits
    CHECK(clip_grad_norm_({a, without, b}, 2.5).item() == 5);
    const float factor = 2.5f / (5.0f + 1e-6f);  // PyTorch's; ours has two more roundings
    CHECK(std::abs(of_a[0].item() - 3 * factor) < 3e-7);
    CHECK(std::abs(b.grad().item() + 4 * factor) < 6e-7);
    a.set_grad(Tensor::from(Values{INFINITY, 1}));
    clip_grad_norm_({a}, 1);
    CHECK(std::isnan(a.grad()[0].item()));  // infinity times 0, as in PyTorch
    CHECK(a.grad()[1].item() == 0);
}

TEST_CASE("convolutions have correct gradients for every stride and padding") {
    const int64_t stride = GENERATE(1, 2, 3);
    const int64_t padding = GENERATE(0, 1, 2);
    CAPTURE(stride, padding);
    check([&](const Inputs& x) { return conv2d(x[0], x[1], x[2], stride, padding); },
          {spread({2, 2, 5, 6}), spread({3, 2, 3, 3}), spread({3})});
}

TEST_CASE(
    "convolutions without bias or with one pixel or channel have correct gradients") {
    check([](const Inputs& x) { return conv2d(x[0], x[1]); },
          {spread({1, 1, 4, 4}), spread({1, 1, 4, 4})});
    check([](const Inputs& x) { return conv2d(x[0], x[1]); },
          {spread({2, 3, 2, 2}), spread({2, 3, 1, 1})});
}

TEST_CASE("max pooling has correct gradients with overlapping and incomplete windows") {
    const int64_t kernel = GENERATE(2, 3);
    const int64_t stride = GENERATE(1, 2, 3);
    const int64_t padding = GENERATE(0, 1);
    CAPTURE(kernel, stride, padding);
    check([&](const Inputs& x) { return max_pool2d(x[0], kernel, stride, padding); },
          {spread({2, 2, 5, 6})});
}

TEST_CASE("batch normalisation has correct gradients in training and in evaluation") {
    const bool training = GENERATE(false, true);
    const Shape shape = GENERATE(Shape{4, 2, 3, 3}, Shape{6, 2}, Shape{3, 2, 5});
    CAPTURE(training, shape.size());
    const auto mean = Tensor::from(std::vector<float>{0.25f, -0.5f});
    const auto variance = Tensor::from(std::vector<float>{0.5f, 2.0f});
    const auto run = [&](const Inputs& x, const Tensor& weight, const Tensor& bias) {
        return batch_norm(x[0], mean, variance, weight, bias,
                          {.training = training, .momentum = 0.0});
    };
    check([&](const Inputs& x) { return run(x, x[1], x[2]); },
          {spread(shape), spread({2}, 2.0f), spread({2})});
    check([&](const Inputs& x) { return run(x, {}, {}); }, {spread(shape)});
}

TEST_CASE("losses have correct gradients for every reduction") {
    const Reduction reduction =
        GENERATE(Reduction::kNone, Reduction::kMean, Reduction::kSum);
    const Tensor classes = Tensor::from(std::vector<int64_t>{2, 0, 1, 2});
    const Tensor scores = spread({4, 3});
    const Tensor probabilities = ops::mul(spread({2, 3}, 1.0f), Tensor::scalar(0.5f));
    const Tensor bits = Tensor::from(std::vector<float>{0, 1, 0, 1, 1, 0.25f}, {2, 3});
    const double nearly_all = 0.98;
    const Tensor inside = ops::add(
        ops::mul(probabilities, Tensor::scalar(nearly_all * 0.9)), Tensor::scalar(0.05f));

    check([](const Inputs& x) { return log_softmax(x[0]); }, {scores});
    check([&](const Inputs& x) { return nll_loss(x[0], classes, reduction); }, {scores});
    check([&](const Inputs& x) { return cross_entropy(x[0], classes, reduction); },
          {scores});
    check([&](const Inputs& x) { return mse_loss(x[0], x[1], reduction); },
          {scores, spread({4, 3}, 1.0f, 3)});
    check([&](const Inputs& x) { return binary_cross_entropy(x[0], bits, reduction); },
          {inside});
}

TEST_CASE(
    "grad_check reports the largest error of all elements, or the one that failed") {
    const auto wrong_by = [](const Values& errors) {
        return [errors](const Inputs& x) {
            return record("doubled", ops::add(x[0], x[0]), {x[0]},
                          [errors](const Tensor& g, const Node&) -> Grads {
                              const Tensor slope =
                                  ops::add(Tensor::full({3}, 2.0), Tensor::from(errors));
                              return {ops::mul(g, slope)};
                          });
        };
    };
    // The gradient is 2 w with weights w from 0.5 to 1.5, the error is error * w / 2 w.
    const Inputs x{spread({3})};
    const auto close_to = [](double value, double expected) {
        return std::abs(value - expected) < 0.05 * expected;
    };
    const GradCheckResult all =
        grad_check(wrong_by({0.0f, 0.2f, 0.1f}), x, {.tolerance = 1.0});
    CHECK(all.ok);
    CHECK(close_to(all.largest_error, 0.1));
    const GradCheckResult one = grad_check(wrong_by({0.0f, 0.1f, 0.2f}), x);
    CHECK_FALSE(one.ok);
    CHECK(close_to(one.largest_error, 0.05));
}
