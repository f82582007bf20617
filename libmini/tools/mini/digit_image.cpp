#include "libmini/tools/mini/digit_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kSide = 28, kInkSide = 20;
constexpr float kInk = 0.3f;  // a pixel of the ink is at least so far from the background
constexpr float kDark = 64.0f / 255;
constexpr std::string_view kShades = " .:-=+*#%@";

// Calls visit(row, column, value) for each pixel of a picture (H, W).
template <typename Visit>
void for_each_pixel(const Tensor& grey, const Visit& visit) {
    const float* value = grey.data<float>();
    for (int64_t i = 0; i < grey.size(0); ++i)
        for (int64_t j = 0; j < grey.size(1); ++j) visit(i, j, *value++);
}

float border_mean(const Tensor& grey) {
    double sum = 0, count = 0;
    for_each_pixel(grey, [&](int64_t i, int64_t j, float value) {
        if (i > 0 && j > 0 && i < grey.size(0) - 1 && j < grey.size(1) - 1) return;
        sum += value;
        ++count;
    });
    return static_cast<float>(sum / count);
}

// Makes the background 0 and the value that is farthest from it 1. The other side of the
// background becomes 0, too. Returns whether there is such a value.
bool stretch(Tensor& grey) {
    const float background = border_mean(grey);
    const auto [low, high] = std::ranges::minmax(grey.span<float>());
    const float farthest = background - low > high - background ? low : high;
    if (std::abs(farthest - background) < 1e-3f) return false;
    for (float& value : grey.span<float>())
        value = std::max(0.0f, (value - background) / (farthest - background));
    return true;
}

// Returns a view of the smallest box that has all ink.
Tensor cropped(const Tensor& grey) {
    int64_t top = grey.size(0), bottom = -1, left = grey.size(1), right = -1;
    for_each_pixel(grey, [&](int64_t i, int64_t j, float value) {
        if (value < kInk) return;
        top = std::min(top, i);
        bottom = std::max(bottom, i);
        left = std::min(left, j);
        right = std::max(right, j);
    });
    const Tensor rows = ops::narrow(grey, 0, top, bottom - top + 1);
    return ops::narrow(rows, 1, left, right - left + 1);
}

// Returns the matrix (pixels, extent) whose product with a line of `extent` values has
// `pixels` values: each is the mean of its part of the line.
Tensor averaging(int64_t pixels, int64_t extent) {
    Tensor weights = Tensor::zeros({pixels, extent});
    const double length = double(extent) / double(pixels);
    for (int64_t i = 0; i < pixels; ++i)
        for (int64_t j = 0; j < extent; ++j) {
            const double overlap = std::min(double(i + 1) * length, double(j + 1)) -
                                   std::max(double(i) * length, double(j));
            weights.data<float>()[i * extent + j] =
                static_cast<float>(std::max(overlap, 0.0) / length);
        }
    return weights;
}

// Returns the ink (h, w) in 20 pixels for its longer side: each pixel is the mean of its
// area.
Tensor scaled(const Tensor& ink) {
    const double step = double(std::max(ink.size(0), ink.size(1))) / double{kInkSide};
    const auto averaged = [step](int64_t extent) {
        return averaging(std::max<int64_t>(1, std::llround(double(extent) / step)),
                         extent);
    };
    const Tensor rows = ops::matmul(averaged(ink.size(0)), ink);
    return ops::matmul(rows, averaged(ink.size(1)), {.transpose_b = true});
}

// Returns the ink in 28 x 28 pixels, with its centre of mass in the middle, as far as all
// of it has room.
Tensor centred(const Tensor& ink) {
    double mass = 0, row = 0, column = 0;
    for_each_pixel(ink, [&](int64_t i, int64_t j, float value) {
        mass += value;
        row += value * (double(i) + 0.5);
        column += value * (double(j) + 0.5);
    });
    const auto offset = [](double centre, int64_t extent) {
        return std::clamp<int64_t>(std::llround(kSide / 2.0 - centre), 0, kSide - extent);
    };
    const Tensor result = Tensor::zeros({kSide, kSide});
    const Tensor rows =
        ops::narrow(result, 0, offset(row / mass, ink.size(0)), ink.size(0));
    Tensor middle = ops::narrow(rows, 1, offset(column / mass, ink.size(1)), ink.size(1));
    ops::copy_(middle, ink);
    return result;
}

}  // namespace

Tensor as_mnist(const Tensor& picture, const std::string& name) {
    Tensor grey = ops::div(ops::to(ops::select(picture, 0, 0), DType::kFloat32),
                           Tensor::scalar(255));  // (H, W)
    const bool is_mnist =
        grey.shape() == Shape{kSide, kSide} && border_mean(grey) < kDark;
    if (!is_mnist) {
        if (!stretch(grey)) {
            const auto value = std::lround(grey.data<float>()[0] * 255);
            throw UsageError(
                name, ": all pixels have the value ", value,
                value == 255 ? ", where transparent pixels are white" : "",
                ": there is no digit to see; draw one on a plain background");
        }
        grey = centred(scaled(cropped(grey)));
    }
    return ops::view(grey, {1, kSide, kSide});
}

std::string as_text(const Tensor& digit, const std::string& indent) {
    const auto pixels = digit.span<float>();
    std::string text;
    for (size_t row = 0; row < kSide; row += 2) {
        std::string line = indent;
        for (size_t column = 0; column < kSide; ++column) {
            const float mean =
                (pixels[row * kSide + column] + pixels[(row + 1) * kSide + column]) / 2;
            const auto last = static_cast<float>(kShades.size() - 1);
            line += kShades[static_cast<size_t>(
                std::lround(std::clamp(mean, 0.0f, 1.0f) * last))];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace mini::tools
