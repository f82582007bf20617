// An axis of a chart: its label, its ticks, and the pixel of each value.
//
// Ticks are round numbers that enclose the values: 1, 2 or 5 times a power of ten. On a
// logarithmic axis of more than four decades they are powers of ten.

#pragma once

#include <string>
#include <vector>

namespace mini::report {

/// A mark on an axis, with its text.
struct ChartTick {
    double value = 0;
    std::string text{};
};

/// The options of one axis.
struct ChartAxis {
    std::string label{};  // with the unit: "step (ms)"
    bool is_log = false;
    bool from_zero = false;          // the axis includes 0; ignored with is_log
    bool is_whole = false;           // ticks are integers; ignored with is_log
    std::vector<ChartTick> ticks{};  // if empty: round numbers
};

/// Returns a number as a tick shows it, with as many digits as a multiple of `step` has:
/// "20,000", "-0.5", "1.5e9". REQUIRES: `step` is above 0.
std::string number_text(double value, double step);

/// Maps values to pixels. The axis reaches from the lowest tick or value to the highest.
class ChartScale {
  public:
    /// Maps an axis for `values` to the pixels from `start` to `end`. Throws UsageError,
    /// with the axis's label and the value, if a value is not finite or larger than
    /// 1e300, or if the axis is logarithmic and a value or tick is not above
    /// 0. REQUIRES: `values` is not empty.
    ChartScale(const ChartAxis& axis, const std::vector<double>& values, double start,
               double end);

    /// Returns the pixel of a value.
    double at(double value) const;

    const std::vector<ChartTick>& ticks() const { return ticks_; }
    double low() const { return low_; }
    double high() const { return high_; }

  private:
    double on_axis(double value) const;

    bool is_log_;
    std::vector<ChartTick> ticks_;
    double start_, end_;  // pixels
    double low_, high_;   // values
};

}  // namespace mini::report
