// The bars of a bar chart, group by group: what bar_chart.cpp draws.
//
//     series            forward 3, 4 and backward 5, 6, both of the stack "step"
//     bars of group 0   one: "step", with the segments 0 to 3 and 3 to 8

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libmini/extras/report/chart.hpp"

namespace mini::report {

/// A part of a bar, between two values.
struct BarSegment {
    size_t index = 0;  // of the series' name, which is the number of its colour
    double begin = 0, end = 0;
    std::string tooltip{};
};

/// A bar: one segment, or those of one stack.
struct GroupedBar {
    std::string stack{};  // empty if the chart has one stack only
    std::string text{};   // at the bar's end
    std::vector<BarSegment> segments{};
    std::optional<ChartRange> spread{};
};

using GroupedBars = std::vector<std::vector<GroupedBar>>;  // by group

/// Returns the different names of the series, in order.
std::vector<std::string> names_of(const BarChart& chart);

/// Returns the bars of each group, in the order of the series, without bars that have no
/// value. Throws UsageError as svg_of() does.
GroupedBars bars_of(const BarChart& chart);

/// Returns all numbers that the axis must include.
std::vector<double> values_of(const BarChart& chart, const GroupedBars& groups);

/// Returns the chart in words, for readers who do not see it.
std::string description_of(const BarChart& chart);

}  // namespace mini::report
