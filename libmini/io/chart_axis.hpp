// An axis of a chart: its label, its ticks, and at which pixel a value lies.

#pragma once

#include <string>
#include <vector>

namespace mini::io {

/// A mark on an axis, and its text.
struct ChartTick {
    double value = 0;
    std::string text;
};

/// How one direction of a chart is drawn.
struct ChartAxis {
    std::string label;  // with the unit: "step (ms)"
    bool is_log = false;
    bool from_zero = false;        // begins at 0, whatever the lowest value is
    std::vector<ChartTick> ticks;  // empty: round numbers
};

/// Maps values to pixels. The axis reaches from its lowest tick or value to its highest.
class ChartScale {
  public:
    /// The axis must hold `values`, of which there is at least one, between the pixels `start`
    /// and `end`. Throws UsageError when a value on a logarithmic axis is not above 0.
    ChartScale(const ChartAxis& axis, const std::vector<double>& values, double start,
               double end);

    /// The pixel of a value.
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
