// The chart of lines and points. Each name stands at the right, at the height of the end
// of its line, or as near to it as the other names permit.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/chart_axis.hpp"
#include "libmini/extras/report/chart_canvas.hpp"

namespace mini::report {
namespace {

constexpr double kPlotHeight = 304;  // pixels
constexpr double kBeforeName = 42;   // gap and swatch between the plot and a name
constexpr double kNameHeight = 19;   // with the gap to the next name
constexpr size_t kMostMarkers = 40;  // on one line

// The pixels of the plot's borders, and its axes.
struct Plot {
    double left, right, top, bottom;
    ChartScale x, y;
};

// A name at the right, with the height of its middle.
struct EndName {
    LegendEntry entry;
    double y = 0;
};

// Returns the numbers of x or of y, for an axis.
std::vector<double> values_of(const LineChart& chart, double ChartPoint::*part) {
    std::vector<double> values;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points) values.push_back(point.*part);
    if (values.empty())
        throw UsageError(
            fmt::format("chart: \"{}\" has {} series and no point: give it a point",
                        chart.text.title, chart.series.size()));
    if (part == &ChartPoint::y)
        for (const ChartReference& line : chart.references) values.push_back(line.value);
    return values;
}

// Returns the names of the chart, each at the height that it wants.
std::vector<EndName> names_of(const LineChart& chart, const ChartScale& y) {
    std::vector<EndName> names;
    for (const ChartSeries& series : chart.series) {
        const Swatch swatch = series.style == SeriesStyle::kPoints   ? Swatch::kMarker
                              : series.style == SeriesStyle::kDotted ? Swatch::kDotted
                                                                     : Swatch::kLine;
        const double end = series.points.empty() ? y.high() : series.points.back().y;
        names.push_back({{series.name, swatch, names.size()}, y.at(end)});
    }
    for (const ChartReference& line : chart.references)
        names.push_back({{line.name, Swatch::kDashed, names.size()}, y.at(line.value)});
    return names;
}

// Moves names that would overlap: first down, then up if one is below the plot.
void spread(std::vector<EndName>& names, double top, double bottom) {
    std::ranges::stable_sort(names, {}, &EndName::y);
    for (EndName& name : names) {
        name.y = std::max(name.y, top + kNameHeight / 2);
        top = name.y + kNameHeight / 2;
    }
    for (size_t i = names.size(); i-- > 0;) {
        names[i].y = std::min(names[i].y, bottom - kNameHeight / 2);
        bottom = names[i].y - kNameHeight / 2;
    }
}

void draw_names(ChartCanvas& canvas, const LineChart& chart, const Plot& plot) {
    std::vector<EndName> names = names_of(chart, plot.y);
    spread(names, plot.top, plot.bottom);
    std::ranges::sort(names, {}, [](const EndName& name) { return name.entry.index; });
    for (const EndName& name : names) {
        if (name.entry.name.empty()) continue;
        canvas.swatch(plot.right + 12, name.y, name.entry);
        canvas.words(plot.right + kBeforeName, name.y + 4.5, name.entry.name, "");
    }
}

// Draws the line and the markers of a series.
void draw_series(ChartCanvas& canvas, const ChartSeries& series, size_t index,
                 const Plot& plot) {
    std::string line;
    for (const ChartPoint& point : series.points)
        line += fmt::format("{}{} {}", line.empty() ? "M" : "L",
                            pixels(plot.x.at(point.x)), pixels(plot.y.at(point.y)));
    canvas.begin_colour(index);
    if (series.style == SeriesStyle::kLine && !line.empty())
        canvas.path(line, line_style(index));
    if (series.style == SeriesStyle::kDotted && !line.empty())
        canvas.path(line, "line dotted");
    const bool is_dense =
        series.style == SeriesStyle::kLine && series.points.size() > kMostMarkers;
    const size_t stride = is_dense ? series.points.size() / kMostMarkers + 1 : 1;
    for (size_t i = 0; i < series.points.size(); i += stride)
        if (series.style != SeriesStyle::kDotted)
            canvas.marker(plot.x.at(series.points[i].x), plot.y.at(series.points[i].y),
                          index);
    canvas.end_colour();
}

void draw_y_axis(ChartCanvas& canvas, const LineChart& chart, const Plot& plot) {
    canvas.words(kChartMargin, plot.top - 14, chart.y.label, "small");
    for (const ChartTick& tick : plot.y.ticks()) {
        const double y = plot.y.at(tick.value);
        canvas.horizontal(plot.left, plot.right, y, "grid");
        canvas.words(plot.left - 8, y + 4, tick.text, "small", "end");
    }
    size_t index = chart.series.size();
    for (const ChartReference& line : chart.references) {
        canvas.begin_colour(index++);
        canvas.horizontal(plot.left, plot.right, plot.y.at(line.value), "line dashed");
        canvas.end_colour();
    }
}

}  // namespace

std::string svg_of(const LineChart& chart) {
    const std::vector<double> x_values = values_of(chart, &ChartPoint::x);
    ChartCanvas canvas;

    // Leave space for the title, the ticks' texts at the left and the names at the right.
    std::vector<std::string> names, ticks;
    for (const ChartSeries& series : chart.series) names.push_back(series.name);
    for (const ChartReference& line : chart.references) names.push_back(line.name);
    const double top = canvas.heading(chart.text) + 26;
    const double bottom =
        top + std::max(kPlotHeight, kNameHeight * static_cast<double>(names.size()));
    const ChartScale y(chart.y, values_of(chart, &ChartPoint::y), bottom, top);
    for (const ChartTick& tick : y.ticks()) ticks.push_back(tick.text);
    const double left = kChartMargin + widest_of(ticks, kSmallSize) + 10;
    const double right =
        std::max(left + kLeastPlotWidth,
                 kChartWidth - kChartMargin - kBeforeName - widest_of(names, kTextSize));
    ChartAxis x_axis = chart.x;
    x_axis.is_whole |=
        std::ranges::all_of(x_values, [](double x) { return x == std::floor(x); });
    const Plot plot{.left = left,
                    .right = right,
                    .top = top,
                    .bottom = bottom,
                    .x = ChartScale(x_axis, x_values, left, right),
                    .y = y};

    draw_y_axis(canvas, chart, plot);
    const double height = canvas.horizontal_axis(chart.x, plot.x, bottom, bottom);
    for (size_t i = 0; i < chart.series.size(); ++i)
        draw_series(canvas, chart.series[i], i, plot);
    draw_names(canvas, chart, plot);
    return canvas.svg(chart.text,
                      fmt::format("{} over {}: {}.", chart.y.label, chart.x.label,
                                  fmt::join(names, ", ")),
                      height);
}

}  // namespace mini::report
