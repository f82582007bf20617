#include "libmini/io/chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libmini/core/error.hpp"

namespace mini::io {
namespace {

// Returns about six round numbers that cover low to high. Their distance is 1, 2 or 5
// times a power of ten.
std::vector<double> linear_ticks(double low, double high) {
    const double width = std::max(high - low, std::max(std::abs(high), 1e-9) * 1e-3) / 6;
    const double unit = std::pow(10.0, std::floor(std::log10(width)));
    double step = 10 * unit;
    for (const double digit : {5.0, 2.0, 1.0})
        if (digit * unit >= width) step = digit * unit;
    std::vector<double> ticks;
    for (double k = std::floor(low / step); k <= std::ceil(high / step); ++k)
        ticks.push_back(k * step);
    return ticks;
}

// Returns at least two powers of ten: from the greatest that is not above low, to the
// least that is not below high.
std::vector<double> log_ticks(double low, double high) {
    std::vector<double> ticks;
    const double first = std::floor(std::log10(low));
    const double last = std::max(first + 1, std::ceil(std::log10(high)));
    for (double power = first; power <= last; ++power)
        ticks.push_back(std::pow(10.0, power));
    return ticks;
}

}  // namespace

ChartScale::ChartScale(const ChartAxis& axis, const std::vector<double>& values,
                       double start, double end)
    : is_log_(axis.is_log),
      ticks_(axis.ticks),
      start_(start),
      end_(end),
      low_(*std::ranges::min_element(values)),
      high_(*std::ranges::max_element(values)) {
    if (is_log_ && !(low_ > 0))
        throw UsageError(concat("chart: ", axis.label, " is ", low_,
                                ", and a logarithmic axis has only values above 0"));
    if (axis.from_zero && !is_log_) low_ = std::min(low_, 0.0);
    if (ticks_.empty())
        for (const double tick :
             is_log_ ? log_ticks(low_, high_) : linear_ticks(low_, high_))
            ticks_.push_back({tick, fmt::format("{:g}", tick)});
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

}  // namespace mini::io
