#include "libmini/datasets/digits.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/datasets/digits_pen.hpp"

namespace mini::data {
namespace {

constexpr int64_t kPixels = kDigitSide * kDigitSide;
constexpr int64_t kGrain = 256;

// Every picture has its own seed, so that any thread can draw any picture.
uint64_t seed_of(bool train, int64_t index) {
    constexpr uint64_t kTestPart = uint64_t{1} << 63;
    return SplitMix64(static_cast<uint64_t>(index) | (train ? 0 : kTestPart)).next();
}

}  // namespace

std::shared_ptr<ImageDataset> make_digits(bool train, int64_t count) {
    if (count < 1)
        throw UsageError(
            concat("make_digits: count is ", count, " but must be at least 1"));
    std::vector<uint8_t> pixels(static_cast<size_t>(count * kPixels));
    std::vector<uint8_t> labels(static_cast<size_t>(count));

    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            SplitMix64 random(seed_of(train, i));
            const int digit = random.choose(10);
            labels[static_cast<size_t>(i)] = static_cast<uint8_t>(digit);
            const auto offset = static_cast<size_t>(i * kPixels);
            draw_digit(std::span(pixels).subspan(offset, kPixels), digit, random);
        }
    });
    return std::make_shared<ImageDataset>(std::move(pixels), std::move(labels),
                                          Shape{1, kDigitSide, kDigitSide},
                                          mnist_normalize());
}

}  // namespace mini::data
