// The checks of lab 05, task 05.4: the gradients of conv2d and of dropout.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/grad_check.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/random/random.hpp"

using namespace mini;
using namespace mini::lab05;

namespace {

Tensor leaf(const Values& values, const Shape& shape) {
    Tensor x = Tensor::from(values, shape);
    x.set_requires_grad();
    return x;
}

Tensor drawn(const Shape& shape, uint32_t seed) {
    int64_t size = 1;
    for (const int64_t extent : shape) size *= extent;
    return leaf(small_integers(size, seed), shape);
}

// Returns the gradients that the node of y computes from g.
Grads gradients(const Tensor& y, const Values& g) {
    REQUIRE(y.autograd_meta() != nullptr);
    REQUIRE(y.autograd_meta()->grad_fn != nullptr);
    return y.autograd_meta()->grad_fn->apply(Tensor::from(g, y.shape()));
}

std::string in_words(const Tensor& x) {
    return x.defined() ? rows_of(x.to_vector<float>(), 1 << 20) : "no gradient";
}

Values values_or_none(const Tensor& x) {
    return x.defined() ? x.to_vector<float>() : Values{};
}

// Makes a GPU the default device until the end of the scope, also after an exception.
class DefaultGpu {
  public:
    DefaultGpu() { set_default_device(Device::cuda(0)); }
    ~DefaultGpu() { set_default_device(before_); }
    DefaultGpu(const DefaultGpu&) = delete;
    DefaultGpu& operator=(const DefaultGpu&) = delete;

  private:
    const Device before_ = default_device();
};

}  // namespace

TEST_CASE("conv2d's node computes the gradients of x, w and bias", "[lab05][lab05.4]") {
    const Tensor x = leaf(count_up(9), {1, 1, 3, 3}),
                 w = leaf({1, 2, 3, 4}, {1, 1, 2, 2}), bias = leaf({100}, {1});
    const Grads grads = gradients(conv2d(x, w, bias), {1, 0, 0, 10});
    INFO("the image 1 2 3 / 4 5 6 / 7 8 9, the filter 1 2 / 3 4, g is 1 0 / 0 10");
    REQUIRE(grads.size() == 3);
    INFO("the gradient of x: 1 2 0 3 14 20 0 30 40, yours " << in_words(grads[0]));
    CHECK(values_or_none(grads[0]) == Values{1, 2, 0, 3, 14, 20, 0, 30, 40});
    INFO("the gradient of w: 51 62 84 95, yours " << in_words(grads[1]));
    CHECK(values_or_none(grads[1]) == Values{51, 62, 84, 95});
    INFO("the gradient of bias: 11, yours " << in_words(grads[2]));
    CHECK(values_or_none(grads[2]) == Values{11});
    CHECK(grads[0].shape() == x.shape());
    CHECK(grads[1].shape() == w.shape());
    CHECK(grads[2].shape() == bias.shape());
}

TEST_CASE("conv2d's gradients use the stride and the padding", "[lab05][lab05.4]") {
    const Tensor x = drawn({2, 2, 5, 6}, 1), w = drawn({3, 2, 3, 3}, 2);
    const Convolution of{{2, 2, 5, 6}, 3, {3, 2, 1}};
    const Values g = small_integers(of.y_size(), 3);
    Values dx(static_cast<size_t>(of.x_size())), dw(static_cast<size_t>(of.w_size()));
    for_each_product(of, [&](int64_t y, int64_t x_at, int64_t w_at) {
        dx[x_at] += g[y] * w.to_vector<float>()[w_at];
        dw[w_at] += g[y] * x.to_vector<float>()[x_at];
    });
    const Grads grads = gradients(conv2d(x, w, {}, 2, 1), g);
    INFO(of.in_words() << ", no bias");
    check_equal("dx", values_or_none(grads[0]), dx, x.shape());
    check_equal("dw", values_or_none(grads[1]), dw, w.shape());
}

TEST_CASE("conv2d's node computes only the gradients that are needed",
          "[lab05][lab05.4]") {
    const Tensor images = Tensor::from(count_up(9), {1, 1, 3, 3});
    const Tensor w = leaf({1, 2, 3, 4}, {1, 1, 2, 2}), bias = leaf({0}, {1});
    {
        const Grads grads = gradients(conv2d(images, w, bias), {1, 0, 0, 10});
        INFO("the images of the first layer need no gradient, and computing it would be");
        INFO("a third of the work; ask node.needs_input_grad(0)");
        CHECK(!grads[0].defined());
        CHECK(values_or_none(grads[1]) == Values{51, 62, 84, 95});
        CHECK(values_or_none(grads[2]) == Values{11});
    }
    {
        const Grads grads = gradients(conv2d(images, w), {1, 0, 0, 10});
        INFO(
            "a convolution without bias; its node has inputs x and w, and bias is unset");
        CHECK(values_or_none(grads[1]) == Values{51, 62, 84, 95});
        CHECK(!grads[2].defined());
    }
    {
        const Tensor frozen = Tensor::from(Values{1, 2, 3, 4}, {1, 1, 2, 2});
        const Tensor x = leaf(count_up(9), {1, 1, 3, 3});
        const Grads grads = gradients(conv2d(x, frozen), {1, 0, 0, 10});
        INFO("w is frozen: only x requires a gradient");
        CHECK(values_or_none(grads[0]) == Values{1, 2, 0, 3, 14, 20, 0, 30, 40});
        CHECK(!grads[1].defined());
        const Grads of_bias = gradients(conv2d(images, frozen, bias), {1, 0, 0, 10});
        INFO("only bias requires a gradient");
        CHECK(values_or_none(of_bias[2]) == Values{11});
    }
}

TEST_CASE("a convolution and a pooling pass the numerical check", "[lab05][lab05.4]") {
    Generator generator(5);
    Values x(50), w(18), bias(2);
    fill_normal(x, 0, 1, generator);
    fill_normal(w, 0, 1, generator);
    fill_normal(bias, 0, 1, generator);
    const GradCheckResult result = grad_check(
        [](const std::vector<Tensor>& in) {
            return max_pool2d(conv2d(in[0], in[1], in[2], 1, 1), 3, 2);
        },
        {leaf(x, {2, 1, 5, 5}), leaf(w, {2, 1, 3, 3}), leaf(bias, {2})},
        {.step = 1e-3, .tolerance = 2e-2});
    INFO(result.message);
    CHECK(result.ok);
}

TEST_CASE("dropout2d sets whole channels to 0, and scales the others",
          "[lab05][lab05.4]") {
    // The mask that PyTorch draws: one number for each (n, c), in this order.
    Generator generator(3), reference(3);
    Values mask(6);
    fill_bernoulli(mask, 0.75, reference);
    const Tensor y = dropout2d(Tensor::ones({2, 3, 2, 2}), 0.25, true, generator);
    const Values got = y.to_vector<float>();
    REQUIRE(got.size() == 24);
    for (size_t k = 0; k < got.size(); ++k) {
        INFO("2 images of 3 channels of 2 x 2 ones, p = 0.25; channel "
             << k / 4 % 3 << " of image " << k / 12 << " should be "
             << (mask[k / 4] > 0 ? "kept, and 1 / 0.75 = 1.333" : "dropped, and 0")
             << "; yours " << got[k]);
        CHECK(got[k] == (mask[k / 4] > 0 ? static_cast<float>(1.0 / 0.75) : 0.0f));
    }
    INFO("dropout2d draws 6 numbers, one for each channel of each image");
    CHECK(generator.random64() == reference.random64());
    const Tensor none = dropout2d(Tensor::ones({1, 2, 1, 1}), 1.0, true, generator);
    INFO(
        "with p = 1 every channel is dropped; 1 / (1 - p) is infinite, and 0 times it "
        "is");
    INFO("nan, so `scale` is 0; expected 0 0, yours " << in_words(none));
    CHECK(values_or_none(none) == Values{0, 0});
}

TEST_CASE("dropout2d takes channels of any shape", "[lab05][lab05.4]") {
    const Shape shape = GENERATE(Shape{4, 8}, Shape{4, 8, 3}, Shape{4, 8, 1, 2, 3});
    Generator generator(3);
    const Values got =
        dropout2d(Tensor::ones(shape), 0.5, true, generator).to_vector<float>();
    const size_t size = got.size() / 32;
    Generator reference(3);
    Values mask(32);
    fill_bernoulli(mask, 0.5, reference);
    INFO(concat("the input has shape ", shape, ": 32 channels of ", size, " elements"));
    for (size_t k = 0; k < got.size(); ++k) CHECK(got[k] == 2 * mask[k / size]);
}

TEST_CASE("the gradient of dropout2d goes through the channels that were kept",
          "[lab05][lab05.4]") {
    Generator generator(3);
    Values elements = count_up(24);
    for (float& element : elements) element -= 12.5f;
    const Tensor x = leaf(elements, {2, 3, 2, 2});
    const Tensor y = dropout2d(x, 0.25, true, generator);
    const Values kept = y.to_vector<float>();
    const Grads grads = gradients(y, Values(24, 3));
    const Values dx = values_or_none(grads[0]);
    REQUIRE(dx.size() == 24);
    for (size_t k = 0; k < dx.size(); ++k) {
        INFO("p = 0.25, g is 3; element "
             << k << " of y was " << kept[k] << ", so its gradient is "
             << (kept[k] != 0 ? "3 / 0.75 = 4" : "0") << "; yours " << dx[k]);
        INFO("forward and backward multiply by the same mask; it is drawn once");
        CHECK(dx[k] == (kept[k] != 0 ? 3 * static_cast<float>(1.0 / 0.75) : 0.0f));
    }
}

TEST_CASE("the mask of dropout2d is on the device of its input", "[lab05][lab05.4]") {
    Generator generator(3);
    const Tensor x = Tensor::ones({1, 1, 2, 2});
    const DefaultGpu gpu;
    INFO("x is on the CPU, and this thread's default device is a GPU: a mask made by");
    INFO("Tensor::empty is on the GPU, one made by x.new_empty on the device of x");
    const Tensor y = dropout2d(x, 0.5, true, generator);
    CHECK(y.device() == x.device());
}

TEST_CASE("dropout2d returns its input in evaluation, and draws nothing",
          "[lab05][lab05.4]") {
    Generator generator(3), untouched(3);
    const Tensor x = Tensor::ones({2, 3, 2, 2});
    INFO("in evaluation, and with p = 0, the result is the input itself");
    CHECK(dropout2d(x, 0.5, false, generator).is_same(x));
    CHECK(dropout2d(x, 0.0, true, generator).is_same(x));
    INFO("a number that is drawn in evaluation changes every number after it");
    CHECK(generator.random64() == untouched.random64());
}

TEST_CASE("dropout multiplies each element by its own number", "[lab05][lab05.4]") {
    Generator generator(4), reference(4);
    const Tensor x = leaf(Values(8, 5), {2, 4});
    const Tensor y = dropout(x, 0.5, true, generator);
    Values mask(8);
    fill_bernoulli(mask, 0.5, reference);
    for (float& value : mask) value *= 10;
    INFO("8 elements of 5, p = 0.5: expected " << rows_of(mask, 4) << ", yours "
                                               << in_words(y));
    CHECK(values_or_none(y) == mask);
}
