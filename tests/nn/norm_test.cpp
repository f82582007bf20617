// Compares batch normalisation with PyTorch.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/norm.hpp"
#include "tests/nn/golden_fill.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains;
using test::distance;
using test::message_of;
using test::noise_tensor;

namespace {

// A few float32 rounding errors for numbers of order one.
constexpr double kTolerance = 2e-6;

nn::BatchNormOptions options_of(const nlohmann::json& given) {
    nn::BatchNormOptions options;
    options.eps = given.value("eps", options.eps);
    options.affine = given.value("affine", true);
    options.track_running_stats = given.value("track_running_stats", true);
    if (given.contains("momentum"))
        options.momentum = given.at("momentum").is_null()
                               ? std::nullopt
                               : std::optional(given.at("momentum").get<double>());
    return options;
}

std::unique_ptr<nn::Module> batch_norm_for(const Shape& shape,
                                           nn::BatchNormOptions options) {
    if (shape.size() == 4) return std::make_unique<nn::BatchNorm2d>(shape[1], options);
    return std::make_unique<nn::BatchNorm1d>(shape[1], options);
}

// Returns an array as it is, and a number (a tensor without dimensions) as an array of
// one number.
nlohmann::json as_row(const nlohmann::json& value) {
    return value.is_array() ? value : nlohmann::json::array({value});
}

}  // namespace

TEST_CASE("batch normalisation gives the values and gradients and buffers of PyTorch") {
    const nlohmann::json cases = golden_cases("batch_norm");
    CHECK(cases.size() == 6);
    for (const auto& expected : cases) {
        CAPTURE(expected.at("shape").dump(), expected.at("options").dump());
        const auto shape = expected.at("shape").get<Shape>();
        const auto layer = batch_norm_for(shape, options_of(expected.at("options")));
        test::fill(*layer);
        for (uint64_t step = 0; step < 4; ++step) {
            CAPTURE(step);
            const auto& wanted = expected.at("steps").at(step);
            layer->train(step < 3);
            layer->zero_grad();
            Tensor x = noise_tensor(step, shape, 2.0, 1.0);
            x.set_requires_grad();
            const Tensor y = (*layer)(x);
            y.backward({.gradient = noise_tensor(step + 10, shape)});

            CHECK(distance(y, wanted.at("y")) < kTolerance);
            CHECK(distance(x.grad(), wanted.at("dx")) < kTolerance);
            const auto parameters = layer->parameters();
            REQUIRE(parameters.size() == wanted.at("gradients").size());
            for (size_t i = 0; i < parameters.size(); ++i)
                CHECK(distance(parameters[i].grad(), wanted.at("gradients").at(i)) <
                      kTolerance);
            const auto buffers = layer->buffers();
            REQUIRE(buffers.size() == wanted.at("buffers").size());
            for (size_t i = 0; i < buffers.size(); ++i)
                CHECK(distance(buffers[i], as_row(wanted.at("buffers").at(i))) <
                      kTolerance);
        }
    }
}

TEST_CASE("evaluation does not change the buffers of a batch normalisation") {
    nn::BatchNorm2d layer(2);
    const Tensor x = noise_tensor(1, {2, 2, 2, 2});
    layer(x);
    layer.eval();
    const auto before = layer.running_mean.to_vector<float>();
    const uint64_t version = layer.num_batches_tracked.version();
    layer(x);
    CHECK(layer.running_mean.to_vector<float>() == before);
    CHECK(layer.num_batches_tracked.to_vector<int64_t>() == std::vector<int64_t>{1});
    CHECK(layer.num_batches_tracked.version() == version);
}

TEST_CASE("the buffers of a batch normalisation are saved and loaded with their dtypes") {
    nn::BatchNorm2d from(2), into(2);
    from(noise_tensor(1, {2, 2, 2, 2}));
    into.load_state_dict(from.state_dict());
    CHECK(ops::equal(into.running_var, from.running_var));
    CHECK(into.num_batches_tracked.dtype() == DType::kInt64);
    CHECK(into.num_batches_tracked.item() == 1.0);
    CHECK(into.num_batches_tracked.shape() == Shape{});
}

TEST_CASE("training rejects a batch with one value per channel and changes nothing") {
    nn::BatchNorm2d layer(3);
    const Tensor one = Tensor::ones({1, 3, 1, 1});
    CHECK(contains(message_of<ShapeError>([&] { layer(one); }), "(1, 3, 1, 1)"));
    CHECK(layer.num_batches_tracked.item() == 0.0);
    layer.eval();
    CHECK_NOTHROW(layer(one));
}

TEST_CASE("batch normalisation rejects inputs of other shapes or channels") {
    nn::BatchNorm2d images(3);
    nn::BatchNorm1d rows(3);
    CHECK_THROWS_AS(images(Tensor::ones({2, 3})), ShapeError);
    CHECK_THROWS_AS(images(Tensor::ones({2, 4, 2, 2})), ShapeError);
    CHECK_THROWS_AS(rows(Tensor::ones({2, 3, 2, 2})), ShapeError);
    CHECK_THROWS_AS(rows(Tensor::ones({2, 2})), ShapeError);
    CHECK_THROWS_AS(batch_norm(Tensor::ones({2, 2}), {}, {}), UsageError);
    CHECK_THROWS_AS(batch_norm(Tensor::ones({2, 2}), {}, {}, Tensor::ones({3}), {},
                               {.training = true}),
                    ShapeError);
}

TEST_CASE("two forward passes in training may precede their backward passes") {
    nn::BatchNorm2d layer(2);
    const Tensor first = layer(noise_tensor(1, {2, 2, 2, 2}));
    const Tensor second = layer(noise_tensor(2, {2, 2, 2, 2}));
    CHECK_NOTHROW(sum(first * first + second).backward());

    layer.eval();
    const Tensor evaluated = layer(noise_tensor(3, {2, 2, 2, 2}));
    layer.train();
    layer(noise_tensor(4, {2, 2, 2, 2}));
    CHECK_NOTHROW(sum(evaluated).backward());
}

TEST_CASE("the mean over an image of more than 2^24 pixels of 1 is 1", "[large][cpu]") {
    const Tensor image = Tensor::ones({1, 1, 4097, 4096});
    CHECK(mean(image).item() == 1.0);
    CHECK(mean(image, {2, 3}).item() == 1.0);
    CHECK(mean(image, {2}).to_vector<float>()[7] == 1.0f);
}
