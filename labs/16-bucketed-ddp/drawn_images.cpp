#include "drawn_images.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "libmini/datasets/cifar10.hpp"
#include "libmini/random/random.hpp"

namespace cifar_resnet {
namespace {

constexpr int kCifarSide = 32;
constexpr double kFullTurn = 2.0 * std::numbers::pi;

// Appends one channel of an image: a brightness given by the colour, plus stripes and
// noise, all within 0 .. 255.
void draw_channel(std::vector<uint8_t>& pixels, double angle, double shift, double colour,
                  mini::Generator& generator) {
    for (int y = 0; y < kCifarSide; ++y)
        for (int x = 0; x < kCifarSide; ++x) {
            const double along = x * std::cos(angle) + y * std::sin(angle);
            const double stripe = std::sin(kFullTurn * (along / 8.0 + shift));
            const double noise = 2.0 * generator.uniform_double() - 1.0;
            pixels.push_back(static_cast<uint8_t>(128.0 + 40.0 * stripe + 20.0 * colour +
                                                  50.0 * noise));
        }
}

}  // namespace

std::shared_ptr<mini::data::ImageDataset> draw_images(int64_t count, uint64_t seed) {
    mini::Generator generator(seed);
    std::vector<uint8_t> pixels, labels;
    for (int64_t i = 0; i < count; ++i) {
        const int label = static_cast<int>(i % 10);
        const double shift = generator.uniform_double();
        labels.push_back(static_cast<uint8_t>(label));
        for (int channel = 0; channel < 3; ++channel)
            draw_channel(pixels, kFullTurn / 20.0 * label, shift,
                         std::cos(kFullTurn * (label / 10.0 + channel / 3.0)), generator);
    }
    return std::make_shared<mini::data::ImageDataset>(
        std::move(pixels), std::move(labels), mini::Shape{3, kCifarSide, kCifarSide},
        mini::data::cifar10_normalize());
}

}  // namespace cifar_resnet
