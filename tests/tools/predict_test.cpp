// mini predict, and the pictures that it shows to the network.

#include "libmini/tools/mini/digit_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/datasets/image_file.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/nn/models.hpp"
#include "tests/datasets/images.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using mini::concat;
using mini::DType;
using mini::Shape;
using mini::Tensor;
using mini::test::Answer;
using mini::test::run_mini;
using mini::tools::as_mnist;
using mini::tools::as_text;

namespace {

constexpr int64_t kSide = 28;
const std::string kPicture = MINI_GOLDEN_DIR "/images/grey.png";

// A picture of a 7 of 30 x 20 strokes, `scale` times as large, at (top, left).
Tensor seven(int64_t rows, int64_t columns, int64_t top, int64_t left, int64_t scale,
             uint8_t background, uint8_t ink) {
    std::vector<uint8_t> pixels(static_cast<size_t>(rows * columns), background);
    for (int64_t i = 0; i < 30 * scale; ++i)
        for (int64_t j = 0; j < 20 * scale; ++j) {
            const int64_t row = i / scale, column = j / scale;
            const int64_t stem = 18 - row / 3;
            if (row < 3 || (column >= stem - 2 && column <= stem))
                pixels[static_cast<size_t>((top + i) * columns + left + j)] = ink;
        }
    return Tensor::from(std::move(pixels), {1, rows, columns});
}

struct Ink {
    double row = 0, column = 0;  // the centre of mass
    int64_t rows = 0;            // from the first to the last row with ink
};

Ink ink_of(const Tensor& digit) {
    Ink ink;
    double mass = 0;
    int64_t first = kSide, last = -1;
    for (int64_t i = 0; i < kSide; ++i)
        for (int64_t j = 0; j < kSide; ++j) {
            const double value = digit.span<float>()[static_cast<size_t>(i * kSide + j)];
            mass += value;
            ink.row += value * (double(i) + 0.5);
            ink.column += value * (double(j) + 0.5);
            if (value > 0.3) first = std::min(first, i), last = std::max(last, i);
        }
    ink.row /= mass;
    ink.column /= mass;
    ink.rows = last - first + 1;
    return ink;
}

}  // namespace

TEST_CASE("a digit of any size and place is 20 pixels high, its mass in the middle") {
    const int64_t scale = GENERATE(1, 2, 7);
    const int64_t top = GENERATE(1, 40);
    const Tensor digit = as_mnist(
        seven(60 + 30 * scale, 50 + 20 * scale, top, 3 * top % 31, scale, 230, 20),
        "seven.png");
    CHECK(digit.shape() == Shape{1, kSide, kSide});
    const Ink ink = ink_of(digit);
    CHECK(ink.rows == 20);
    CHECK(std::abs(ink.row - 14) <= 0.5);
    CHECK(std::abs(ink.column - 14) <= 0.5);
}

TEST_CASE("ink may be dark or light") {
    const auto dark = as_mnist(seven(90, 90, 20, 30, 2, 255, 0), "a").to_vector<float>();
    const auto light = as_mnist(seven(90, 90, 20, 30, 2, 0, 255), "b").to_vector<float>();
    const auto grey =
        as_mnist(seven(90, 90, 20, 30, 2, 200, 100), "c").to_vector<float>();
    REQUIRE(dark.size() == 784);
    for (size_t i = 0; i < dark.size(); ++i) {
        CHECK(std::abs(dark[i] - light[i]) < 1e-5f);
        CHECK(std::abs(dark[i] - grey[i]) < 1e-5f);
    }
}

TEST_CASE("a picture in MNIST's form is used as it is") {
    std::vector<uint8_t> pixels(784, 0);
    pixels[29] = 255;
    pixels[400] = 51;
    const auto values =
        as_mnist(Tensor::from(pixels, {1, kSide, kSide}), "digit").to_vector<float>();
    CHECK(values[29] == 1.0f);
    CHECK(values[400] == 0.2f);
    CHECK(values[401] == 0.0f);
}

TEST_CASE("pictures of awkward shapes do not fail, and an empty one is reported") {
    for (const Shape& shape : {Shape{1, 1, 40}, Shape{1, 40, 1}, Shape{1, 2, 2}}) {
        std::vector<uint8_t> pixels(static_cast<size_t>(shape[1] * shape[2]), 10);
        pixels[1] = 200;
        CHECK(as_mnist(Tensor::from(pixels, shape), "thin").shape() ==
              Shape{1, kSide, kSide});
    }
    CHECK(
        message_of([] {
            as_mnist(Tensor::full({1, 50, 40}, 7, DType::kUInt8), "white.png");
        }) ==
        "white.png: all pixels have the value 7: there is no digit to see; draw one on a "
        "plain background");
}

TEST_CASE("a drawing has 14 lines, and darker characters for more ink") {
    std::vector<float> pixels(784, 0.0f);
    pixels[0] = pixels[28] = 1.0f;
    pixels[3] = 1.0f;
    const std::string text = as_text(Tensor::from(pixels, {1, kSide, kSide}), "  ");
    CHECK(text.substr(0, text.find('\n')) == "  @  +");
    CHECK(std::ranges::count(text, '\n') == 14);
}

TEST_CASE("mini predict prints the digits that the model finds most probable") {
    const Folder folder;
    mini::manual_seed(5);
    mini::nn::ConvNet model;
    model.eval();
    const std::string path = folder / "convnet.safetensors";
    mini::io::save_safetensors(path, model.state_dict());
    std::vector<float> input =
        as_mnist(
            mini::data::decode_image(kPicture, mini::data::ImageMode::kGreyOverWhite),
            kPicture)
            .to_vector<float>();
    for (float& value : input) value = (value - 0.1307f) / 0.3081f;
    const mini::NoGradGuard no_grad;
    const auto logs = mini::log_softmax(model(Tensor::from(input, {1, 1, kSide, kSide})))
                          .to_vector<float>();
    const auto best = std::ranges::max_element(logs);

    const Answer json = run_mini(concat("predict ", path, " ", kPicture, " --json"));
    CHECK(json.code == 0);
    const auto object = nlohmann::json::parse(json.text);
    CHECK(object.at("file") == kPicture);
    CHECK(object.at("digit") == best - logs.begin());
    for (size_t i = 0; i < logs.size(); ++i)
        CHECK(std::abs(object.at("probabilities").at(i).get<double>() -
                       std::exp(double{logs[i]})) < 1e-6);

    const Answer text = run_mini(concat("predict ", path, " ", kPicture, " ", kPicture));
    CHECK(std::ranges::count(text.text, '\n') == 2 * (1 + 14 + 1));
    const std::string first = text.text.substr(0, text.text.find('\n'));
    CHECK(first.starts_with(concat(kPicture, ": ", best - logs.begin(), " (")));
}

TEST_CASE("mini predict sees the same digit on white and on a transparent background") {
    const Folder folder;
    const std::string path = folder / "convnet.safetensors";
    mini::io::save_safetensors(path, mini::nn::ConvNet().state_dict());
    const auto answer = [&](const std::string& options, const Picture& picture) {
        write_file(folder / "digit.png", png_of(picture));
        return run_mini(concat("predict ", path, " ", folder / "digit.png", options));
    };
    // A bar of ink with this value; the background has the value `below`, and alpha 0.
    const auto drawn = [](uint32_t ink, uint32_t below) {
        return Picture{.width = 40,
                       .height = 40,
                       .colour = 4,
                       .sample = [=](uint32_t x, uint32_t y, uint32_t c) {
                           const bool is_ink = x > 15 && x < 20 && y > 5 && y < 30;
                           return c == 0 ? (is_ink ? ink : below) : is_ink ? 255 : 0;
                       }};
    };
    const Answer black = answer(" --json", drawn(0, 0));
    CHECK(black.code == 0);
    CHECK(black.text == answer(" --json", drawn(0, 255)).text);
    const Answer white = answer("", drawn(255, 0));
    CHECK(white.code == 2);
    CHECK(contains(white.text,
                   "all pixels have the value 255, where transparent pixels "
                   "are white: there is no digit"));
}

TEST_CASE("mini predict names the orientation of a photograph that it does not turn") {
    const Folder folder;
    const std::string path = folder / "convnet.safetensors";
    mini::io::save_safetensors(path, mini::nn::ConvNet().state_dict());
    const Bytes exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0,
                        3,   0,   0, 0,  1, 0, 6, 0, 0, 0, 0, 0,  0};
    const Bytes picture = read_bytes(kPicture);
    const size_t begin = kPngSignature.size() + 25;  // after the chunk IHDR
    write_file(folder / "a.png", first(picture, begin) + chunk("eXIf", exif) +
                                     Bytes(picture.begin() + begin, picture.end()));
    const auto text = [&](const std::string& name) {
        return run_mini(concat("predict ", path, " ", name)).text;
    };
    CHECK(contains(text(folder / "a.png"), "EXIF orientation is 6"));
    CHECK_FALSE(contains(text(kPicture), "EXIF"));
}

TEST_CASE("mini predict names a model that is not a ConvNet") {
    const Folder folder;
    const std::string path = folder / "other.safetensors";
    mini::io::save_safetensors(path, {{"weight", Tensor::zeros({3})}});
    const Answer answer = run_mini(concat("predict ", path, " ", kPicture));
    CHECK(answer.code == 2);
    CHECK(contains(answer.text,
                   concat(path, " is not a ConvNet that `train_mnist --save ")));
}
