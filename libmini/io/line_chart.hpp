// A line chart as SVG, readable on light and dark pages. It looks like the charts of
// labs/plot.py.
//
//     title
//     y label
//       30 |--------------o----      o  8 ranks     each line has its name beside its end
//       20 |----o--------------      o  2 ranks
//       10 |-------------------
//           1       10      100
//                x label

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libmini/io/chart_axis.hpp"

namespace mini::io {

/// One line of a chart, with a dot at each point.
struct ChartLine {
    std::string name;
    std::vector<std::pair<double, double>> points;  // x and y, ascending in x
};

/// The contents of a chart.
struct LineChart {
    std::string title;
    ChartAxis x, y;
    std::vector<ChartLine> lines;
};

/// Returns the text of an SVG file. Colours repeat after seven lines. Throws UsageError
/// if no line has a point, or if a value on a logarithmic axis is not above 0.
std::string svg_of(const LineChart& chart);

}  // namespace mini::io
