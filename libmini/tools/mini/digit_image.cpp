#include "libmini/tools/mini/digit_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kSide = 28, kInkSide = 20;
constexpr float kInk = 0.3f;  // a pixel of the ink is at least so far from the background
constexpr float kDark = 64.0f / 255;
constexpr std::string_view kShades = " .:-=+*#%@";

// Pixels from 0 to 1, in rows.
struct Grey {
    int64_t rows = 0, columns = 0;
    std::vector<float> pixels{};

    Grey(int64_t rows, int64_t columns)
        : rows(rows), columns(columns), pixels(static_cast<size_t>(rows * columns)) {}
    float& at(int64_t i, int64_t j) {
        return pixels[static_cast<size_t>(i * columns + j)];
    }
    float at(int64_t i, int64_t j) const {
        return pixels[static_cast<size_t>(i * columns + j)];
    }
    bool is_border(int64_t i, int64_t j) const {
        return i == 0 || j == 0 || i == rows - 1 || j == columns - 1;
    }
};

Grey grey_of(const Tensor& picture) {
    Grey grey(picture.size(1), picture.size(2));
    std::ranges::transform(picture.span<uint8_t>(), grey.pixels.begin(),
                           [](uint8_t value) { return static_cast<float>(value) / 255; });
    return grey;
}

float border_mean(const Grey& grey) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < grey.rows; ++i)
        for (int64_t j = 0; j < grey.columns; ++j)
            if (grey.is_border(i, j)) {
                sum += grey.at(i, j);
                ++count;
            }
    return static_cast<float>(sum / count);
}

// Makes the background 0 and the value that is farthest from it 1. The other side of the
// background becomes 0, too. Returns whether there is such a value.
bool stretch(Grey& grey) {
    const float background = border_mean(grey);
    const auto [low, high] = std::ranges::minmax(grey.pixels);
    const float farthest = background - low > high - background ? low : high;
    if (std::abs(farthest - background) < 1e-3f) return false;
    for (float& value : grey.pixels)
        value = std::max(0.0f, (value - background) / (farthest - background));
    return true;
}

struct Box {
    int64_t top, left, rows, columns;
};

Box ink_box(const Grey& grey) {
    int64_t top = grey.rows, bottom = -1, left = grey.columns, right = -1;
    for (int64_t i = 0; i < grey.rows; ++i)
        for (int64_t j = 0; j < grey.columns; ++j) {
            if (grey.at(i, j) < kInk) continue;
            top = std::min(top, i);
            bottom = std::max(bottom, i);
            left = std::min(left, j);
            right = std::max(right, j);
        }
    return {top, left, bottom - top + 1, right - left + 1};
}

// Calls body(index, length) for the parts of [begin, end) in each pixel of a line.
template <typename Body>
void for_each_part(double begin, double end, int64_t extent, const Body& body) {
    for (auto i = static_cast<int64_t>(begin); i < extent && static_cast<double>(i) < end;
         ++i) {
        const auto first = static_cast<double>(i);
        body(i, std::min(end, first + 1) - std::max(begin, first));
    }
}

// Returns the box in 20 pixels for its longer side: each pixel is the mean of its area.
Grey scaled(const Grey& grey, const Box& box) {
    const double step =
        static_cast<double>(std::max(box.rows, box.columns)) / double{kInkSide};
    const auto extent = [step](int64_t pixels) {
        return std::max<int64_t>(1, std::llround(static_cast<double>(pixels) / step));
    };
    Grey result(extent(box.rows), extent(box.columns));
    const double height = static_cast<double>(box.rows) / double(result.rows);
    const double width = static_cast<double>(box.columns) / double(result.columns);
    for (int64_t i = 0; i < result.rows; ++i)
        for (int64_t j = 0; j < result.columns; ++j) {
            double sum = 0;
            for_each_part(double(i) * height, double(i + 1) * height, box.rows,
                          [&](int64_t row, double rows) {
                              for_each_part(
                                  double(j) * width, double(j + 1) * width, box.columns,
                                  [&](int64_t column, double columns) {
                                      sum += rows * columns *
                                             grey.at(box.top + row, box.left + column);
                                  });
                          });
            result.at(i, j) = static_cast<float>(sum / (height * width));
        }
    return result;
}

// Returns the ink in 28 x 28 pixels, with its centre of mass in the middle, as far as all
// of it has room.
Grey centred(const Grey& ink) {
    double mass = 0, row = 0, column = 0;
    for (int64_t i = 0; i < ink.rows; ++i)
        for (int64_t j = 0; j < ink.columns; ++j) {
            mass += ink.at(i, j);
            row += ink.at(i, j) * (double(i) + 0.5);
            column += ink.at(i, j) * (double(j) + 0.5);
        }
    const auto offset = [](double centre, int64_t extent) {
        return std::clamp<int64_t>(std::llround(kSide / 2.0 - centre), 0, kSide - extent);
    };
    const int64_t top = offset(row / mass, ink.rows),
                  left = offset(column / mass, ink.columns);
    Grey result(kSide, kSide);
    for (int64_t i = 0; i < ink.rows; ++i)
        for (int64_t j = 0; j < ink.columns; ++j)
            result.at(top + i, left + j) = ink.at(i, j);
    return result;
}

}  // namespace

Tensor as_mnist(const Tensor& picture, const std::string& name) {
    Grey grey = grey_of(picture);
    const bool is_mnist =
        grey.rows == kSide && grey.columns == kSide && border_mean(grey) < kDark;
    if (!is_mnist) {
        if (!stretch(grey)) {
            const auto value = std::lround(grey.pixels.front() * 255);
            throw UsageError(
                concat(name, ": all pixels have the value ", value,
                       value == 255 ? ", where transparent pixels are white" : "",
                       ": there is no digit to see; draw one on a plain background"));
        }
        grey = centred(scaled(grey, ink_box(grey)));
    }
    return Tensor::from(std::move(grey.pixels), {1, kSide, kSide});
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
