// Charts as SVG, readable on light and dark pages: lines and points, and rows, which are
// bars or timelines.
//
//     LineChart               RowChart
//     ms |       o--o ring    conv1 |=====| 28        rank 0 |[forward][ backward ]  |
//        |   o--/             conv2 |=======| 45      rank 1 |   [forward][ backward ]|
//        +----------- ranks         +--------- GF/s          +------------------------ ms
//
//     svg_of(LineChart{.text = {.title = "Loss"}, .x = {.label = "epoch"}, ...})
//
// A chart is plain data; svg_of() returns the text of an SVG file, without scripts and
// without references to other files. Equal charts give equal bytes. Beside its colour, a
// series has a marker, a dash pattern or a text, and colour-blind readers can tell the
// colours apart. A picture is as wide as its texts need.

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/report/chart_axis.hpp"

namespace mini::report {

/// A point of a series.
struct ChartPoint {
    double x = 0, y = 0;
};

/// How a series is drawn.
enum class SeriesStyle {
    kLine,    // a line, with markers at the points
    kPoints,  // markers only
    kDotted,  // a dotted line without markers, for computed values
};

/// The points of one name.
struct ChartSeries {
    std::string name{};  // shown beside the last point
    std::vector<ChartPoint> points{};
    SeriesStyle style = SeriesStyle::kLine;
};

/// A dashed line across the chart, at one value of an axis.
struct ChartReference {
    std::string name{};
    double value = 0;
};

/// The text of a chart, for all kinds.
struct ChartText {
    std::string title{};
    std::string id = "chart";  // differs between the charts of one HTML page
};

/// Lines and points over x and y.
struct LineChart {
    ChartText text{};
    ChartAxis x{}, y{};
    std::vector<ChartSeries> series{};
    std::vector<ChartReference> references{};  // at values of y
};

/// A part of a row; start == end marks a moment. REQUIRES: start <= end.
struct ChartSpan {
    std::string name{};  // spans with the same name have one colour
    double start = 0, end = 0;
};

/// A row of spans.
struct ChartRow {
    std::string name{};  // at the left, after the group's
    std::vector<ChartSpan> spans{};
    std::string text{};  // after the last span
};

/// Rows with a common name.
struct RowGroup {
    std::string name{};
    std::vector<ChartRow> rows{};
};

/// Rows over one axis, from 0 on, in groups, one below the other.
struct RowChart {
    ChartText text{};
    ChartAxis axis{};  // linear
    std::vector<RowGroup> groups{};
    std::vector<ChartReference> references{};
};

/// Returns the text of an SVG file. Colours and markers repeat after eight names, and
/// lines then have dashes. Throws UsageError, which begins with "chart: " and has the
/// values and the next step: if nothing is to be drawn, a number is not finite, or a value
/// on a logarithmic axis is not above 0.
std::string svg_of(const LineChart& chart);
std::string svg_of(const RowChart& chart);

}  // namespace mini::report
