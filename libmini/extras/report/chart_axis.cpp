#include "libmini/extras/report/chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

constexpr double kIntervals = 6;          // of a linear axis, about
constexpr double kFewDecades = 4;         // so many have ticks at 1, 2 and 5
constexpr double kMostLogTicks = 10;      // more decades than that have every n-th power
constexpr double kLargeNumber = 1e6;      // from here on a tick with few digits is 1.5e6
constexpr double kSmallNumber = 1e-4;     // up to here it is 5e-5
constexpr double kLargestInteger = 1e15;  // from here on every tick has an exponent
constexpr double kLargestValue = 1e300;   // that a chart draws
constexpr int kFewDigits = 6;
constexpr double kSmallestPart =
    1e-9;  // of the largest value: a narrower range is a point

// Returns an exponent without its plus sign and zeros: "1.5e+09" becomes "1.5e9".
std::string short_exponent(const std::string& text) {
    const size_t e = text.find('e');
    if (e == std::string::npos) return text;
    return fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

// Returns a number without exponent, with commas between its thousands.
std::string with_thousands(const std::string& text) {
    const size_t point = std::min(text.find('.'), text.size());
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool follows_digit = i > 0 && text[i - 1] != '-';
        if (i < point && follows_digit && (point - i) % 3 == 0) result += ',';
        result += text[i];
    }
    return result;
}

// Returns the distance of ticks that divides `range` into at most kIntervals parts or
// somewhat more: 1, 2 or 5 times a power of ten.
double round_step(double range) {
    const double width = range / kIntervals;
    const double unit = std::pow(10.0, std::floor(std::log10(width)));
    for (const double digit : {1.0, 2.0, 5.0})
        if (digit * unit >= width * (1 - 1e-9)) return digit * unit;
    return 10 * unit;
}

// Returns ticks at equal distances that enclose low to high.
std::vector<ChartTick> linear_ticks(double low, double high, bool is_whole) {
    double step = round_step(high - low);
    if (is_whole) step = std::max(1.0, std::round(step));
    std::vector<ChartTick> ticks;
    const double first = std::floor(low / step + 1e-9);
    const double last = std::max(first + 1, std::ceil(high / step - 1e-9));
    for (double k = first; k <= last; ++k) {
        const double value = k == 0 ? 0.0 : k * step;
        ticks.push_back({value, number_text(value, step)});
    }
    return ticks;
}

// Returns the values of ticks that enclose low to high, at least two.
std::vector<ChartTick> log_ticks(double low, double high) {
    const double first = std::floor(std::log10(low)),
                 last = std::floor(std::log10(high)) + 1;
    const bool is_short = last - first <= kFewDecades;
    const double stride = is_short ? 1 : std::ceil((last - first) / kMostLogTicks);
    std::vector<double> values;
    for (double power = first; power < last + stride; power += stride)
        for (const double digit : {1.0, 2.0, 5.0})
            if (digit == 1.0 || is_short) values.push_back(digit * std::pow(10.0, power));

    // Keep the ticks inside, one below or at low, and one above it that encloses high.
    const auto above = std::ranges::upper_bound(values, low * (1 + 1e-9));
    const auto begin = above - 1;
    auto end = std::ranges::lower_bound(values, high * (1 - 1e-9));
    end = std::max(end, begin + 1);
    std::vector<ChartTick> ticks;
    for (auto value = begin; value <= end && value != values.end(); ++value)
        ticks.push_back({*value, number_text(*value, *value)});
    return ticks;
}

void check_value(const ChartAxis& axis, double value) {
    if (!std::isfinite(value) || std::abs(value) > kLargestValue)
        throw UsageError("chart: a value of \"", axis.label, "\" is ", value,
                         ", and a chart has finite numbers up to ", kLargestValue,
                         ": leave the value out");
    if (axis.is_log && value <= 0)
        throw UsageError("chart: a value of \"", axis.label, "\" is ", value,
                         ", and a logarithmic axis has only values above 0: leave "
                         "the value out, or make the axis linear");
}

}  // namespace

std::string number_text(double value, double step) {
    const double size = std::abs(value);
    const int place = static_cast<int>(std::floor(std::log10(step) + 1e-9));
    const int digits =
        size == 0 ? 1 : static_cast<int>(std::floor(std::log10(size) + 1e-9)) - place + 1;
    const bool is_extreme = size >= kLargeNumber || (size > 0 && size < kSmallNumber);
    if (is_extreme && (digits <= kFewDigits || size >= kLargestInteger))
        return short_exponent(fmt::format("{:.{}g}", value, std::max(1, digits)));
    std::string text = fmt::format("{:.{}f}", value, std::max(0, -place));
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return with_thousands(text);
}

ChartScale::ChartScale(const ChartAxis& axis, const std::vector<double>& values,
                       double start, double end)
    : is_log_(axis.is_log), ticks_(axis.ticks), start_(start), end_(end) {
    for (const double value : values) check_value(axis, value);
    for (const ChartTick& tick : ticks_) check_value(axis, tick.value);
    low_ = *std::ranges::min_element(values);
    high_ = *std::ranges::max_element(values);
    if (axis.from_zero && !is_log_) {
        low_ = std::min(low_, 0.0);
        high_ = std::max(high_, 0.0);
    }

    // Widen a range that is one value, or too narrow for its digits.
    const double largest = std::max(std::abs(low_), std::abs(high_));
    if (!is_log_ && high_ - low_ <= largest * kSmallestPart) {
        const double margin = largest == 0 ? 1 : largest / 10;
        low_ -= margin;
        high_ += margin;
    }
    if (ticks_.empty())
        ticks_ =
            is_log_ ? log_ticks(low_, high_) : linear_ticks(low_, high_, axis.is_whole);
    for (const ChartTick& tick : ticks_) {
        low_ = std::min(low_, tick.value);
        high_ = std::max(high_, tick.value);
    }
}

double ChartScale::at(double value) const {
    const double low = on_axis(low_), high = on_axis(high_);
    if (low == high) return (start_ + end_) / 2;
    return start_ + (end_ - start_) * (on_axis(value) - low) / (high - low);
}

double ChartScale::on_axis(double value) const {
    return is_log_ ? std::log10(value) : value;
}

}  // namespace mini::report
