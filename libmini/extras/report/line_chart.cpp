// The chart of lines and points. Each name stands at the right, at the height of the end
// of its line, or as near to it as the other names permit.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/chart_axis.hpp"
#include "libmini/extras/report/chart_canvas.hpp"
#include "libmini/extras/report/chart_text.hpp"

namespace mini::report {
namespace {

constexpr double kWidestName = 210;  // pixels of text at the right
constexpr double kBeforeName = 42;   // gap and swatch between the plot and a name
constexpr double kNameHeight = 16, kNameGap = 3;
constexpr size_t kMostMarkers = 40;  // on one line

// The numbers of all points and references.
struct Values {
    std::vector<double> x, y;
};

// The pixels of the plot's borders, and its axes.
struct Plot {
    double left, right, top, bottom;
    ChartScale x, y;
};

// A name at the right, in lines of text. `wanted` and `y` are the heights of its middle.
struct EndName {
    LegendEntry entry;
    std::vector<std::string> lines;
    double wanted = 0, y = 0;

    double height() const {
        return kNameHeight * static_cast<double>(lines.size()) + kNameGap;
    }
};

void check_point(const LineChart& chart, const ChartSeries& series,
                 const ChartPoint& point) {
    const auto fail = [&](const std::string& what) {
        throw UsageError(fmt::format("chart: \"{}\" has the point ({}, {}), and {}",
                                     series.name, short_number(point.x),
                                     short_number(point.y), what));
    };
    if (!std::isfinite(point.x) || !std::isfinite(point.y))
        fail("a chart has finite numbers only: leave the point out");
    for (const bool of_x : {true, false})
        if (((of_x ? chart.x : chart.y).is_log) && (of_x ? point.x : point.y) <= 0)
            fail(
                fmt::format("a logarithmic axis has only values above 0: leave the point "
                            "out, or make {} linear",
                            of_x ? "x" : "y"));
}

Values values_of(const LineChart& chart) {
    Values values;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points) {
            check_point(chart, series, point);
            values.x.push_back(point.x);
            values.y.push_back(point.y);
            if (point.spread) {
                values.y.push_back(point.spread->low);
                values.y.push_back(point.spread->high);
            }
        }
    if (values.x.empty())
        throw UsageError(
            fmt::format("chart: \"{}\" has {} series and no point: give it a "
                        "point",
                        chart.text.title, chart.series.size()));
    for (const ChartReference& line : chart.x_references) values.x.push_back(line.value);
    for (const ChartReference& line : chart.y_references) values.y.push_back(line.value);
    return values;
}

Swatch swatch_of(SeriesStyle style) {
    switch (style) {
        case SeriesStyle::kPoints: return Swatch::kMarker;
        case SeriesStyle::kDotted: return Swatch::kDotted;
        case SeriesStyle::kLine: break;
    }
    return Swatch::kLine;
}

// Returns the names of the chart, in the order of their colours.
std::vector<EndName> names_of(const LineChart& chart) {
    std::vector<EndName> names;
    const auto add = [&](const std::string& name, Swatch swatch) {
        names.push_back({.entry = {.name = name, .swatch = swatch, .index = names.size()},
                         .lines = wrapped(name, kWidestName, kTextSize)});
    };
    for (const ChartSeries& series : chart.series)
        add(series.name, swatch_of(series.style));
    for (const ChartReference& line : chart.x_references) add(line.name, Swatch::kDashed);
    for (const ChartReference& line : chart.y_references) add(line.name, Swatch::kDashed);
    return names;
}

double width_of(const std::vector<EndName>& names) {
    double width = 0;
    for (const EndName& name : names)
        for (const std::string& line : name.lines)
            width = std::max(width, kBeforeName + text_width(line, kTextSize));
    return width;
}

// Returns how high the plot must be for the names beside it.
double height_of(const std::vector<EndName>& names) {
    double height = 0;
    for (const EndName& name : names) height += name.lines.empty() ? 0 : name.height();
    return std::max(kPlotHeight, height);
}

// Sets the wanted heights: of a series that of its last point, of a reference its own.
void set_wanted(std::vector<EndName>& names, const LineChart& chart, const Plot& plot) {
    size_t i = 0;
    for (const ChartSeries& series : chart.series)
        names[i++].wanted =
            series.points.empty() ? plot.top : plot.y.at(series.points.back().y);
    i += chart.x_references.size();  // they reach to the top
    for (const ChartReference& line : chart.y_references)
        names[i++].wanted = plot.y.at(line.value);
}

// Moves names that would overlap: first down, then up if one is below the plot.
void place(std::vector<EndName>& names, const Plot& plot) {
    std::vector<size_t> order(names.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return names[i].wanted; });
    double free_from = plot.top;
    for (const size_t i : order) {
        const double half = names[i].height() / 2;
        names[i].y = std::max(names[i].wanted, free_from + half);
        free_from = names[i].y + half;
    }
    double free_to = plot.bottom;
    for (size_t k = order.size(); k-- > 0;) {
        EndName& name = names[order[k]];
        const double half = name.height() / 2;
        name.y = std::min(name.y, free_to - half);
        free_to = name.y - half;
    }
}

void draw_name(ChartCanvas& canvas, const EndName& name, double right) {
    if (name.lines.empty()) return;
    canvas.swatch(right + 12, name.y, name.entry);
    const double above = kNameHeight * static_cast<double>(name.lines.size() - 1) / 2;
    canvas.lines(right + kBeforeName, name.y - above + 4.5, name.lines, "");
}

void draw_axes(ChartCanvas& canvas, const LineChart& chart, const Plot& plot) {
    canvas.words(kChartMargin, plot.top - 14, chart.y.label, "small");
    for (const ChartTick& tick : plot.y.ticks()) {
        const double y = plot.y.at(tick.value);
        canvas.horizontal(plot.left, plot.right, y, "grid");
        canvas.words(plot.left - 8, y + 4, tick.text, "small", "end");
    }
}

// Draws the error bars, the line and the markers of a series.
void draw_series(ChartCanvas& canvas, const ChartSeries& series, size_t index,
                 const Plot& plot) {
    std::string line;
    canvas.begin_colour(index);
    for (const ChartPoint& point : series.points) {
        const double x = plot.x.at(point.x);
        line += fmt::format("{}{} {}", line.empty() ? "M" : "L", pixels(x),
                            pixels(plot.y.at(point.y)));
        if (!point.spread) continue;
        const double low = plot.y.at(point.spread->low);
        const double high = plot.y.at(point.spread->high);
        canvas.vertical(x, low, high, "line");
        canvas.horizontal(x - 4, x + 4, low, "line");
        canvas.horizontal(x - 4, x + 4, high, "line");
    }
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

void draw_references(ChartCanvas& canvas, const LineChart& chart, const Plot& plot) {
    size_t index = chart.series.size();
    for (const ChartReference& line : chart.x_references) {
        canvas.begin_colour(index++);
        canvas.vertical(plot.x.at(line.value), plot.top, plot.bottom, "line dashed");
        canvas.end_colour();
    }
    for (const ChartReference& line : chart.y_references) {
        canvas.begin_colour(index++);
        canvas.horizontal(plot.left, plot.right, plot.y.at(line.value), "line dashed");
        canvas.end_colour();
    }
}

// Returns the chart in words, for readers who do not see it.
std::string description_of(const LineChart& chart) {
    std::string text = fmt::format("{} over {}.", chart.y.label, chart.x.label);
    for (const ChartSeries& series : chart.series) {
        if (series.points.empty()) continue;
        const ChartPoint &first = series.points.front(), &last = series.points.back();
        text += fmt::format(" {}: {} at {}", series.name, short_number(first.y),
                            short_number(first.x));
        if (series.points.size() > 1)
            text += fmt::format(", {} at {}", short_number(last.y), short_number(last.x));
        text += ".";
    }
    for (const ChartReference& line : chart.x_references)
        text += fmt::format(" {}: at {}.", line.name, short_number(line.value));
    for (const ChartReference& line : chart.y_references)
        text += fmt::format(" {}: {}.", line.name, short_number(line.value));
    return text;
}

bool are_whole(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double x) { return x == std::floor(x); });
}

}  // namespace

std::string svg_of(const LineChart& chart) {
    const Values values = values_of(chart);
    std::vector<EndName> names = names_of(chart);
    ChartCanvas canvas;

    // Leave space for the title, the ticks' texts at the left and the names at the right.
    const double top = canvas.title(chart.text) + (chart.y.label.empty() ? 6 : 26);
    const double bottom = top + height_of(names);
    const double right = kChartWidth - kChartMargin - width_of(names);
    const ChartScale y(chart.y, values.y, bottom, top);
    const double left = kChartMargin + widest_tick(y) + 10;
    ChartAxis x_axis = chart.x;
    x_axis.is_whole |= are_whole(values.x);
    const Plot plot{.left = left,
                    .right = right,
                    .top = top,
                    .bottom = bottom,
                    .x = ChartScale(x_axis, values.x, left, right),
                    .y = y};

    draw_axes(canvas, chart, plot);
    const double height = horizontal_axis(canvas, chart.x, plot.x, bottom, bottom);
    draw_references(canvas, chart, plot);
    for (size_t i = 0; i < chart.series.size(); ++i)
        draw_series(canvas, chart.series[i], i, plot);
    set_wanted(names, chart, plot);
    place(names, plot);
    for (const EndName& name : names) draw_name(canvas, name, plot.right);
    return canvas.svg(chart.text, description_of(chart), height);
}

}  // namespace mini::report
