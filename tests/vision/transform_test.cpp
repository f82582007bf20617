#include "libmini/data/transform.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/vision/transforms.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::Shape;
using mini::ShapeError;
using mini::Tensor;
using mini::UsageError;
using mini::data::Compose;
using mini::data::Normalize;
using mini::data::RandomCrop;
using mini::data::RandomHorizontalFlip;
using mini::data::ToTensor;
using mini::data::Transform;
using mini::data::TransformedDataset;
using Floats = std::vector<float>;

namespace {

Transform random_transform(const nlohmann::json& c) {
    const auto crop = [&] {
        return RandomCrop(c.at("size")[0], c.at("size")[1], c.at("padding"));
    };
    if (c.at("kind") == "crop") return crop();
    if (c.at("kind") == "flip") return RandomHorizontalFlip(c.at("p"));
    return Compose({crop(), RandomHorizontalFlip(c.at("p"))});
}

uint32_t next_word() { return mini::default_generator().random(); }

}  // namespace

TEST_CASE("random transforms return torchvision's images and draw equally many numbers") {
    int cases = 0;
    for (const auto& c : golden_cases("transforms")) {
        if (c.at("kind") == "normalise") continue;
        CAPTURE(++cases, c.at("kind"), c.at("image"));
        const Transform transform = random_transform(c);
        const Tensor image = byte_image(c.at("image"));

        mini::manual_seed(c.at("seed"));
        for (const auto& expected : c.at("outputs")) {
            const Tensor result = transform(image);
            REQUIRE(result.shape() == c.at("shape").get<Shape>());
            REQUIRE(result.to_vector<uint8_t>() == expected.get<Bytes>());
        }
        CHECK(mini::default_generator().random_int64() == c.at("next"));
        CHECK(image.to_vector<uint8_t>() ==
              byte_image(c.at("image")).to_vector<uint8_t>());
    }
    CHECK(cases == 11);
}

TEST_CASE(
    "ToTensor and Normalize are bitwise identical to torchvision's for every byte") {
    int cases = 0;
    for (const auto& c : golden_cases("transforms")) {
        if (c.at("kind") != "normalise") continue;
        CAPTURE(++cases);
        const Tensor scaled = ToTensor()(byte_image(c.at("image")));
        REQUIRE(scaled.shape() == c.at("image").get<Shape>());
        CHECK(scaled.to_vector<float>() == floats_from_hex(c.at("scaled")));
        const Normalize normalize(c.at("mean"), c.at("std"));
        CHECK(normalize(scaled).to_vector<float>() ==
              floats_from_hex(c.at("normalised")));
    }
    CHECK(cases == 3);
}

TEST_CASE("Normalize with one mean and one std applies them to all channels") {
    const Tensor image = Tensor::from(Floats{1, 2, 3, 4, 5, 6}, {3, 1, 2});
    const Floats expected{0, 0.5f, 1, 1.5f, 2, 2.5f};
    CHECK(Normalize({1}, {2})(image).to_vector<float>() == expected);
    CHECK(Normalize({1, 1, 1}, {2, 2, 2})(image).to_vector<float>() == expected);
}

TEST_CASE("random transforms treat floats and views like bytes") {
    const Tensor bytes = byte_image({2, 4, 4});
    const Tensor views = mini::ops::transpose(bytes, 1, 2);
    const Compose augment({RandomCrop(3, 1), RandomHorizontalFlip()});
    const auto run = [&](const Tensor& image) {
        mini::manual_seed(9);
        return mini::ops::to(augment(image), mini::DType::kInt64).to_vector<int64_t>();
    };
    CHECK(run(mini::ops::to(bytes, mini::DType::kFloat32)) == run(bytes));
    CHECK(run(mini::ops::to(bytes, mini::DType::kInt64)) == run(bytes));
    CHECK(run(views) == run(mini::ops::contiguous(views)));
}

TEST_CASE("a crop as large as the image draws no number and any other crop draws two") {
    const auto word_after = [](const RandomCrop& crop) {
        mini::manual_seed(1);
        crop(byte_image({1, 4, 5}));
        return next_word();
    };
    mini::Generator fresh(1);
    CHECK(word_after(RandomCrop(4, 5, 0)) == fresh.random());
    fresh.random();
    CHECK(word_after(RandomCrop(4, 4, 0)) == fresh.random());  // after two words
}

TEST_CASE("an image is flipped if the draw is below p and not if it equals p") {
    const float draw = mini::Generator(1).uniform_float();
    const auto run = [](float p) {
        mini::manual_seed(1);
        return RandomHorizontalFlip(p)(byte_image({1, 1, 2})).to_vector<uint8_t>();
    };
    CHECK(run(draw) == Bytes{7, 38});
    CHECK(run(std::nextafter(draw, 1.0f)) == Bytes{38, 7});
}

TEST_CASE("Compose applies its transforms in order and an empty list changes nothing") {
    const auto add = [](float y) {
        return [y](const Tensor& x) { return Tensor::scalar(10 * float(x.item()) + y); };
    };
    CHECK(Compose({add(1), add(2), add(3)})(Tensor::scalar(0)).item() == 123);
    CHECK(Compose({})(Tensor::scalar(4)).item() == 4);
    CHECK(message_of<UsageError>([&] {
              Compose({add(1), Transform()});
          }) == "Compose: transform 1 of 2 is empty");
}

TEST_CASE("ToTensor returns float images unchanged and rejects other tensors") {
    const Tensor image = Tensor::from(Floats{1, 2}, {1, 1, 2});
    CHECK(ToTensor()(image).to_vector<float>() == Floats{1, 2});
    CHECK(ToTensor()(byte_image({3, 0, 4})).shape() == Shape{3, 0, 4});
    CHECK(contains(message_of<ShapeError>([] {
                       ToTensor()(Tensor::zeros({1, 2, 2}, mini::DType::kInt64));
                   }),
                   "got int64 (1, 2, 2)"));
    CHECK(contains(message_of<ShapeError>([] {
                       ToTensor()(byte_image({28, 28}));
                   }),
                   "(channels, height, width), got a tensor of shape (28, 28)"));
    CHECK_THROWS_AS(ToTensor()(Tensor()), UsageError);
}

TEST_CASE("Normalize rejects other channel counts and bytes and invalid means and stds") {
    const Normalize normalize({0.5f, 0.5f}, {1, 1});
    CHECK(contains(
        message_of<ShapeError>([&] {
            normalize(Tensor::zeros({3, 4, 4}));
        }),
        "the image is (3, 4, 4) with 3 channels, but there are 2 means and stds"));
    CHECK(contains(message_of<ShapeError>([&] {
                       normalize(byte_image({2, 1, 1}));
                   }),
                   "put ToTensor before it"));
    CHECK_THROWS_AS(normalize(Tensor::zeros({2, 4})), ShapeError);

    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinite = std::numeric_limits<float>::infinity();
    const auto error_of = [](Floats mean, Floats std) {
        return message_of<UsageError>([&] { Normalize(mean, std); });
    };
    CHECK(contains(error_of({0, 0}, {1}), "2 means and 1 stds"));
    CHECK(contains(error_of({}, {}), "0 means and 0 stds"));
    CHECK(contains(error_of({0, 0.25f}, {1, 0}), "channel 1 has mean 0.25 and std 0"));
    for (const float std : {-1.0f, nan, infinite})
        CHECK(contains(error_of({0}, {std}), "channel 0"));
    for (const float mean : {nan, infinite})
        CHECK(contains(error_of({mean}, {1}), "mean"));
}

TEST_CASE("RandomCrop rejects images that are too small and names both sizes") {
    const std::string small = message_of<ShapeError>([] {
        RandomCrop(5, 7, 1)(byte_image({3, 4, 4}));
    });
    CHECK(contains(small, "the window is 5 x 7 but the image (3, 4, 4) has only 6 x 6"));
    CHECK_THROWS_AS(RandomCrop(5)(byte_image({3, 4, 9})), ShapeError);
    CHECK_THROWS_AS(RandomCrop(5)(byte_image({3, 9, 4})), ShapeError);
    CHECK_THROWS_AS(RandomCrop(1)(byte_image({1, 0, 0})), ShapeError);
    CHECK_THROWS_AS(RandomCrop(2)(byte_image({4, 4})), ShapeError);
    CHECK_THROWS_AS(RandomCrop(0), UsageError);
    CHECK_THROWS_AS(RandomCrop(1, 0, 0), UsageError);
    CHECK_THROWS_AS(RandomCrop(1, -1), UsageError);
}

TEST_CASE("RandomHorizontalFlip rejects a p outside of 0 to 1") {
    for (const double p : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
        CHECK(contains(message_of<UsageError>([&] { RandomHorizontalFlip flip(p); }),
                       "must be between 0 and 1"));
    CHECK_THROWS_AS(RandomHorizontalFlip()(byte_image({4, 4})), ShapeError);
}

TEST_CASE("TransformedDataset transforms the data of each sample and not its target") {
    const auto twice = [](const Tensor& x) {
        return mini::ops::mul(x, Tensor::scalar(2));
    };
    const TransformedDataset dataset(std::make_shared<Numbers>(5), twice);
    CHECK(dataset.size() == 5);
    CHECK(dataset.get(3).data.to_vector<float>() == Floats{6, 12});
    const auto batch = dataset.get_batch(std::vector<int64_t>{4, 1});
    CHECK(batch.data.to_vector<float>() == Floats{8, 16, 2, 4});
    CHECK(batch.target.to_vector<int64_t>() == std::vector<int64_t>{12, 3});
}

TEST_CASE("an error of a transform names the sample") {
    const auto images = std::make_shared<mini::data::TensorDataset>(
        Tensor::zeros({4, 1, 2, 2}), Tensor::zeros({4}));
    const TransformedDataset dataset(images, RandomCrop(3));
    CHECK(contains(message_of([&] { dataset.get_batch(std::vector<int64_t>{2}); }),
                   "sample 2: RandomCrop: the window is 3 x 3"));
    CHECK_THROWS_AS(TransformedDataset(nullptr, ToTensor()), UsageError);
    CHECK_THROWS_AS(TransformedDataset(images, nullptr), UsageError);
}
