// An axis of a chart: its label, its ticks, and the pixel of each value.

#pragma once

#include <string>
#include <vector>

namespace mini::io {

/// A mark on an axis, with its text.
struct ChartTick {
    double value = 0;
    std::string text;
};

/// The options of one axis.
struct ChartAxis {
    std::string label;  // with the unit: "step (ms)"
    bool is_log = false;
    bool from_zero = false;        // the axis includes 0; ignored with is_log
    std::vector<ChartTick> ticks;  // if empty: round numbers
};

/// Maps values to pixels. The axis reaches from the lowest tick or value to the highest.
class ChartScale {
  public:
    /// Maps an axis for `values` to the pixels from `start` to `end`. Throws UsageError
    /// if the axis is logarithmic and a value is not above 0. REQUIRES: `values` is not
    /// empty; on a logarithmic axis, the ticks are above 0.
    ChartScale(const ChartAxis& axis, const std::vector<double>& values, double start,
               double end);

    /// Returns the pixel of a value.
    double at(double value) const;

    const std::vector<ChartTick>& ticks() const { return ticks_; }

  private:
    double on_axis(double value) const;

    bool is_log_;
    std::vector<ChartTick> ticks_;
    double start_, end_;  // pixels
    double low_, high_;   // values
};

}  // namespace mini::io
