#include "libmini/datasets/digits.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/datasets/digits_pen.hpp"

namespace mini::data {
namespace {

constexpr int64_t kPixels = kDigitSide * kDigitSide;

// Every picture has its own seed, so that any thread can draw any picture at any time.
uint64_t seed_of(bool train, int64_t index) {
    constexpr uint64_t kTestPart = uint64_t{1} << 63;
    return SplitMix64(static_cast<uint64_t>(index) | (train ? 0 : kTestPart)).next();
}

// A picture's generator chooses the digit first, then its handwriting.
std::vector<uint8_t> choose_labels(bool train, int64_t count) {
    std::vector<uint8_t> labels(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        SplitMix64 random(seed_of(train, i));
        labels[static_cast<size_t>(i)] = static_cast<uint8_t>(random.choose(10));
    }
    return labels;
}

// Draws each picture at its first use. All pictures take a second, so a program that uses
// few of them starts at once, and the workers of a loader draw while the model trains.
class Digits : public ImageDataset {
  public:
    Digits(bool train, int64_t count)
        : ImageDataset(choose_labels(train, count), {1, kDigitSide, kDigitSide},
                       mnist_normalize()),
          train_(train),
          pixels_(std::make_unique_for_overwrite<uint8_t[]>(
              static_cast<size_t>(count * kPixels))),
          drawn_(std::make_unique<std::once_flag[]>(static_cast<size_t>(count))) {}

    const uint8_t* pixels(int64_t index) const override {
        check_index(index);
        uint8_t* const picture = &pixels_[static_cast<size_t>(index * kPixels)];
        std::call_once(drawn_[static_cast<size_t>(index)], [&] {
            std::fill_n(picture, kPixels, uint8_t{0});
            SplitMix64 random(seed_of(train_, index));
            const int digit = random.choose(10);
            draw_digit({picture, kPixels}, digit, random);
        });
        return picture;
    }

  private:
    bool train_;
    std::unique_ptr<uint8_t[]> pixels_;        // (count, 28, 28)
    std::unique_ptr<std::once_flag[]> drawn_;  // one per picture
};

}  // namespace

std::shared_ptr<ImageDataset> make_digits(bool train, int64_t count) {
    if (count < 1)
        throw UsageError("make_digits: count is ", count, " but must be at least 1");
    return std::make_shared<Digits>(train, count);
}

}  // namespace mini::data
