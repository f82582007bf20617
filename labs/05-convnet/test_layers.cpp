// The checks of lab 05, tasks 05.4 to 05.6: max pooling, the gradients of conv2d and of
// dropout, and the whole network.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/grad_check.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"

using namespace mini;
using namespace mini::lab05;

// ---- 05.4

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Pooled {
    Values y;
    std::vector<int32_t> indices;
};

// Pools planes of H x W.
Pooled pool(const Values& x, int64_t H, int64_t W, Window window) {
    const ImageExtents in{1, static_cast<int64_t>(x.size()) / (H * W), H, W};
    const int64_t size = in.C * window.output(H) * window.output(W);
    Pooled pooled{unwritten(size), std::vector<int32_t>(static_cast<size_t>(size), -1)};
    kernels::cpu::max_pool2d(pooled.y.data(), pooled.indices.data(), x.data(), in,
                             window);
    return pooled;
}

Values spread(const Values& g, const std::vector<int32_t>& indices, ImageExtents in,
              Window window) {
    Values dx = unwritten(in.N * in.C * in.H * in.W);
    kernels::cpu::max_pool2d_backward(dx.data(), g.data(), indices.data(), in, window);
    return dx;
}

std::string list(const std::vector<int32_t>& indices) {
    std::string text;
    for (const int32_t index : indices) text += concat(text.empty() ? "" : " ", index);
    return text;
}

}  // namespace

TEST_CASE("an output of max pooling is the maximum of its window, with its index",
          "[lab05][lab05.4]") {
    const Pooled got = pool({1, 5, 2, 7, 3, 4, 0, 8, 6}, 3, 3, {2, 1, 0});
    INFO("the plane 1 5 2 / 7 3 4 / 0 8 6, windows of 2 x 2 with stride 1");
    INFO("expected the maxima 7 5 / 8 8 at the indices 3 1 / 7 7: an index is h W + w");
    INFO("got " << rows(got.y, 2) << " at " << list(got.indices)
                << "; -1: not written; hint 1 of 05.4");
    CHECK(got.y == Values{7, 5, 8, 8});
    CHECK(got.indices == std::vector<int32_t>{3, 1, 7, 7});
}

TEST_CASE("windows of max pooling are a stride apart", "[lab05][lab05.4]") {
    const Pooled got = pool(counting(28), 4, 7, {3, 2, 0});
    INFO("a plane of 4 rows of 7, 1 to 28, windows of 3 x 3 with stride 2: 1 row of 3");
    INFO("expected 17 19 21, got " << rows(got.y, 3));
    CHECK(got.y == Values{17, 19, 21});
    CHECK(got.indices == std::vector<int32_t>{16, 18, 20});
}

TEST_CASE("padding is never the maximum", "[lab05][lab05.4]") {
    const Pooled got = pool({-4, -3, -2, -1}, 2, 2, {2, 1, 1});
    INFO("the plane -4 -3 / -2 -1 with padding 1: 3 x 3 windows, all elements negative");
    INFO("padding counts as minus infinity, not as 0: the part of a window that is");
    INFO("padding is left out; expected -4 -3 -3 / -2 -1 -1 / -2 -1 -1");
    INFO("got " << rows(got.y, 3) << " at " << list(got.indices) << "; hint 2 of 05.4");
    CHECK(got.y == Values{-4, -3, -3, -2, -1, -1, -2, -1, -1});
    CHECK(got.indices == std::vector<int32_t>{0, 1, 1, 2, 3, 3, 2, 3, 3});
}

TEST_CASE("of equal elements the first wins, and NaN wins over numbers",
          "[lab05][lab05.4]") {
    const Pooled equal = pool({4, 4, 4, 4, 4, 4}, 2, 3, {2, 1, 0});
    INFO("a plane of 4s: the first element of each window, in row-major order");
    INFO("expected the indices 0 1, got " << list(equal.indices));
    CHECK(equal.indices == std::vector<int32_t>{0, 1});
    const Pooled nan = pool({1, kNaN, 9, 2, 3, 4}, 2, 3, {2, 1, 0});
    INFO("the plane 1 nan 9 / 2 3 4: both windows have the NaN, at index 1");
    INFO("got the indices " << list(nan.indices));
    CHECK(nan.indices == std::vector<int32_t>{1, 1});
    const Pooled least = pool(Values(4, -kInfinity), 2, 2, {2, 1, 1});
    INFO("a plane of minus infinities has a maximum, too, and it is inside the plane");
    INFO("got the indices " << list(least.indices));
    CHECK(least.indices == std::vector<int32_t>{0, 0, 1, 0, 0, 1, 2, 2, 3});
}

TEST_CASE("planes are pooled separately", "[lab05][lab05.4]") {
    const Pooled got = pool({1, 2, 3, 4, 5, 6, 60, 50, 40, 30, 20, 10}, 2, 3, {2, 1, 0});
    INFO("two planes of 2 x 3: 1 2 3 / 4 5 6 and 60 50 40 / 30 20 10");
    INFO("expected 5 6 at 4 5, and 60 50 at 0 1: an index counts from its own plane");
    CHECK(got.y == Values{5, 6, 60, 50});
    CHECK(got.indices == std::vector<int32_t>{4, 5, 0, 1});
}

TEST_CASE("the gradient goes to the maximum, once for each window that it won",
          "[lab05][lab05.4]") {
    const Values dx = spread({1, 10, 100, 1000}, {3, 1, 7, 7}, {1, 1, 3, 3}, {2, 1, 0});
    INFO("windows of 2 x 2 with stride 1 on 3 x 3; their maxima were at 3 1 7 7; g is");
    INFO("1 10 100 1000: element 7 won two windows, and gets 1100");
    INFO("expected 0 10 0 / 1 0 0 / 0 1100 0, got " << rows(dx, 3)
                                                    << "; nan: not set to 0 first");
    CHECK(dx == Values{0, 10, 0, 1, 0, 0, 0, 1100, 0});
}

TEST_CASE("elements outside all windows have the gradient 0", "[lab05][lab05.4]") {
    const Values dx = spread({5, 6, 7, 8}, {0, 2, 6, 8}, {1, 1, 3, 3}, {1, 2, 0});
    INFO("windows of 1 x 1 with stride 2 on 3 x 3, g = 5 6 7 8 at 0 2 6 8");
    INFO("got " << rows(dx, 3));
    CHECK(dx == Values{5, 0, 6, 0, 0, 0, 7, 0, 8});
}

TEST_CASE("each plane gets the gradients of its own outputs", "[lab05][lab05.4]") {
    const Values dx = spread({1, 2, 3, 4}, {1, 1, 0, 3}, {2, 1, 2, 3}, {2, 1, 0});
    INFO("two images of one plane of 2 x 3, two windows each; the maxima were at 1 1 in");
    INFO("the first plane and at 0 3 in the second; g is 1 2 and 3 4");
    INFO("expected 0 3 0 / 0 0 0 and 3 0 0 / 4 0 0, got " << rows(dx, 3));
    CHECK(dx == Values{0, 3, 0, 0, 0, 0, 3, 0, 0, 4, 0, 0});
}

// ---- 05.5

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
    return x.defined() ? rows(x.to_vector<float>(), 1 << 20) : "no gradient";
}

Values values_or_none(const Tensor& x) {
    return x.defined() ? x.to_vector<float>() : Values{};
}

}  // namespace

TEST_CASE("conv2d's node computes the gradients of x, w and bias", "[lab05][lab05.5]") {
    const Tensor x = leaf(counting(9), {1, 1, 3, 3}),
                 w = leaf({1, 2, 3, 4}, {1, 1, 2, 2}), bias = leaf({100}, {1});
    const Grads grads = gradients(conv2d(x, w, bias), {1, 0, 0, 10});
    INFO("the image 1 2 3 / 4 5 6 / 7 8 9, the kernel 1 2 / 3 4, g is 1 0 / 0 10");
    REQUIRE(grads.size() == 3);
    INFO("the gradient of x: 1 2 0 3 14 20 0 30 40, got " << in_words(grads[0]));
    CHECK(values_or_none(grads[0]) == Values{1, 2, 0, 3, 14, 20, 0, 30, 40});
    INFO("the gradient of w: 51 62 84 95, got " << in_words(grads[1]));
    CHECK(values_or_none(grads[1]) == Values{51, 62, 84, 95});
    INFO("the gradient of bias: 11, got " << in_words(grads[2]));
    CHECK(values_or_none(grads[2]) == Values{11});
    CHECK(grads[0].shape() == x.shape());
    CHECK(grads[1].shape() == w.shape());
    CHECK(grads[2].shape() == bias.shape());
}

TEST_CASE("conv2d's gradients use the stride and the padding", "[lab05][lab05.5]") {
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
          "[lab05][lab05.5]") {
    const Tensor images = Tensor::from(counting(9), {1, 1, 3, 3});
    const Tensor w = leaf({1, 2, 3, 4}, {1, 1, 2, 2}), bias = leaf({0}, {1});
    {
        const Grads grads = gradients(conv2d(images, w, bias), {1, 0, 0, 10});
        INFO("the images of the first layer need no gradient, and computing it would be");
        INFO("a third of the work; ask node.needs_input_grad(0); hint 2 of 05.5");
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
        const Tensor x = leaf(counting(9), {1, 1, 3, 3});
        const Grads grads = gradients(conv2d(x, frozen), {1, 0, 0, 10});
        INFO("w is frozen: only x requires a gradient");
        CHECK(values_or_none(grads[0]) == Values{1, 2, 0, 3, 14, 20, 0, 30, 40});
        CHECK(!grads[1].defined());
        const Grads of_bias = gradients(conv2d(images, frozen, bias), {1, 0, 0, 10});
        INFO("only bias requires a gradient");
        CHECK(values_or_none(of_bias[2]) == Values{11});
    }
}

TEST_CASE("a convolution, a pooling and a ReLU pass the numerical check",
          "[lab05][lab05.5]") {
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
          "[lab05][lab05.5]") {
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
             << "; got " << got[k] << "; hint 2 of 05.5");
        CHECK(got[k] == (mask[k / 4] > 0 ? static_cast<float>(1.0 / 0.75) : 0.0f));
    }
    INFO("dropout2d draws 6 numbers, one for each channel of each image");
    CHECK(generator.random64() == reference.random64());
}

TEST_CASE("dropout2d takes channels of any shape", "[lab05][lab05.5]") {
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
          "[lab05][lab05.5]") {
    Generator generator(3);
    const Tensor x = leaf(counting(24), {2, 3, 2, 2});
    const Tensor y = dropout2d(x, 0.25, true, generator);
    const Values kept = y.to_vector<float>();
    const Grads grads = gradients(y, Values(24, 3));
    const Values dx = values_or_none(grads[0]);
    REQUIRE(dx.size() == 24);
    for (size_t k = 0; k < dx.size(); ++k) {
        INFO("p = 0.25, g is 3; element "
             << k << " of y was " << kept[k] << ", so its gradient is "
             << (kept[k] != 0 ? "3 / 0.75 = 4" : "0") << "; got " << dx[k]);
        INFO("forward and backward multiply by the same mask; it is drawn once");
        CHECK(dx[k] == (kept[k] != 0 ? 3 * static_cast<float>(1.0 / 0.75) : 0.0f));
    }
}

TEST_CASE("dropout2d returns its input in evaluation, and draws nothing",
          "[lab05][lab05.5]") {
    Generator generator(3), untouched(3);
    const Tensor x = Tensor::ones({2, 3, 2, 2});
    INFO("in evaluation, and with p = 0, the result is the input itself");
    CHECK(dropout2d(x, 0.5, false, generator).is_same(x));
    CHECK(dropout2d(x, 0.0, true, generator).is_same(x));
    INFO("a number that is drawn in evaluation changes every number after it");
    CHECK(generator.random64() == untouched.random64());
}

TEST_CASE("dropout multiplies each element by its own number", "[lab05][lab05.5]") {
    Generator generator(4), reference(4);
    const Tensor x = leaf(Values(8, 5), {2, 4});
    const Tensor y = dropout(x, 0.5, true, generator);
    Values mask(8);
    fill_bernoulli(mask, 0.5, reference);
    for (float& value : mask) value *= 10;
    INFO("8 elements of 5, p = 0.5: expected " << rows(mask, 4) << ", got "
                                               << in_words(y));
    CHECK(values_or_none(y) == mask);
}

// ---- 05.6

namespace {

// The parameters of the network, by name.
Tensor parameter(const nn::Module& net, const std::string& name) {
    for (const auto& [full_name, tensor] : net.named_parameters())
        if (full_name == name) return tensor;
    FAIL("the network has no parameter " << name);
    return {};
}

// The tutorial's forward pass, from functions and from the parameters of `net`.
Tensor tutorial(const nn::Module& net, const Tensor& x, bool training) {
    const auto of = [&](const char* name) { return parameter(net, name); };
    Tensor y = conv2d(x, of("conv1.weight"), of("conv1.bias"));
    y = relu(max_pool2d(y, 2));
    y = dropout2d(conv2d(y, of("conv2.weight"), of("conv2.bias")), 0.5, training);
    y = relu(max_pool2d(y, 2));
    y = relu(linear(view(y, {-1, 320}), of("fc1.weight"), of("fc1.bias")));
    return linear(dropout(y, 0.5, training), of("fc2.weight"), of("fc2.bias"));
}

// The images and classes of PyTorch's reference numbers: pixel k of batch 0 is
// ((7919 k) mod 256) / 255, then normalised.
struct Batch {
    Tensor images, classes;
};

Batch batch(int64_t number, int64_t size) {
    Values pixels;
    std::vector<int64_t> classes;
    for (int64_t i = number * size * 784; i < (number + 1) * size * 784; ++i)
        pixels.push_back((static_cast<float>(7919 * i % 256) / 255.0f - 0.1307f) /
                         0.3081f);
    for (int64_t i = number * size; i < (number + 1) * size; ++i)
        classes.push_back(3 * i % 10);
    return {Tensor::from(pixels, {size, 1, 28, 28}), Tensor::from(classes)};
}

}  // namespace

TEST_CASE("the ConvNet's parameters have the tutorial's names and shapes",
          "[lab05][lab05.6]") {
    const nn::ConvNet net;
    std::string got;
    int64_t numbers = 0;
    for (const auto& [name, tensor] : net.named_parameters()) {
        got += concat(name, " ", tensor.shape(), "\n");
        numbers += tensor.numel();
    }
    INFO(
        "PyTorch lists a module's parameters in the order of registration; a layer that");
    INFO("is not registered is not trained; hint 1 of 05.6; the network has\n" << got);
    CHECK(got ==
          "conv1.weight (10, 1, 5, 5)\nconv1.bias (10,)\n"
          "conv2.weight (20, 10, 5, 5)\nconv2.bias (20,)\n"
          "fc1.weight (50, 320)\nfc1.bias (50,)\nfc2.weight (10, 50)\nfc2.bias (10,)\n");
    CHECK(numbers == 21840);
}

TEST_CASE("train and eval reach the two dropouts", "[lab05][lab05.6]") {
    nn::ConvNet net;
    INFO("the network itself, conv1, conv2, conv2_drop, fc1, fc1_drop, fc2: 7 modules;");
    INFO("a dropout that is not registered always stays in training mode");
    CHECK(net.modules().size() == 7);
    net.eval();
    for (const nn::Module* module : net.modules()) CHECK(!module->is_training());
}

TEST_CASE("in evaluation the ConvNet computes the tutorial's scores",
          "[lab05][lab05.6]") {
    manual_seed(1);
    nn::ConvNet net;
    net.eval();
    const Tensor x = batch(0, 3).images;
    const Tensor y = net(x);
    INFO("three images; the scores should be those of conv1, max_pool2d, relu, conv2,");
    INFO("max_pool2d, relu, fc1, relu, fc2: scores, with no function after fc2");
    REQUIRE(y.shape() == Shape{3, 10});
    check_equal("scores", y.to_vector<float>(),
                tutorial(net, x, false).to_vector<float>(), y.shape());
}

TEST_CASE("in training the two dropouts draw in the tutorial's order",
          "[lab05][lab05.6]") {
    manual_seed(1);
    nn::ConvNet net;
    const Tensor x = batch(0, 3).images;
    manual_seed(7);
    const Tensor y = net(x);
    manual_seed(7);
    const Tensor expected = tutorial(net, x, true);
    INFO("dropout2d on the channels of conv2, dropout on the 50 outputs of fc1, both");
    INFO("with p = 0.5; hint 2 of 05.6");
    REQUIRE(y.shape() == Shape{3, 10});
    check_equal("scores", y.to_vector<float>(), expected.to_vector<float>(), y.shape());
}

TEST_CASE("without dropout the ConvNet draws nothing", "[lab05][lab05.6]") {
    nn::ConvNet net({.dropout = false});
    const Tensor x = batch(0, 2).images;
    manual_seed(7);
    const Values first = net(x).to_vector<float>();
    const uint64_t next = default_generator().random64();
    manual_seed(7);
    CHECK(next == default_generator().random64());
    CHECK(first == net(x).to_vector<float>());
}

TEST_CASE("every parameter gets a gradient", "[lab05][lab05.6]") {
    manual_seed(1);
    nn::ConvNet net;
    const Batch of = batch(0, 4);
    cross_entropy(net(of.images), of.classes).backward();
    for (const auto& [name, tensor] : net.named_parameters()) {
        INFO(name << " has no gradient, so it had no part in the loss");
        CHECK(tensor.grad().defined());
    }
}

TEST_CASE("three steps of the ConvNet have the losses of PyTorch", "[lab05][lab05.6]") {
    manual_seed(1234);
    nn::ConvNet net;
    optim::SGD optimizer(net.parameters(), {.lr = 0.01, .momentum = 0.5});
    const std::vector<double> expected = {2.308820962905884, 2.3047351837158203,
                                          2.2886171340942383};
    for (int64_t step = 0; step < 3; ++step) {
        const Batch of = batch(step, 32);
        optimizer.zero_grad();
        const Tensor loss = cross_entropy(net(of.images), of.classes);
        loss.backward();
        optimizer.step();
        const double wanted = expected[static_cast<size_t>(step)];
        INFO(
            "seed 1234, batches of 32, SGD with lr 0.01 and momentum 0.5; the loss of "
            "step "
            << step + 1 << " is " << wanted << " in PyTorch, and " << loss.item()
            << " here");
        CHECK(std::abs(loss.item() - wanted) < 1e-5 * wanted);
    }
}
