// The chart of bars: rows with the names of their groups at the left.
//
//     series            forward 3, 4 and backward 5, 6, both of the stack "step"
//     bars of group 0   one: "step", with the segments 0 to 3 and 3 to 8

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

constexpr double kBarRow = 16, kBarHeight = 13, kGroupGap = 14, kTextGap = 6;

// A part of a bar, between two values. `index` is the number of its colour.
struct Segment {
    size_t index = 0;
    double begin = 0, end = 0;
    std::string tooltip{};
};

// A bar: one segment, or those of one stack.
struct Bar {
    std::string stack{}, text{};
    std::vector<Segment> segments{};
};

std::vector<std::string> names_of(const BarChart& chart) {
    std::vector<std::string> names;
    for (const BarSeries& series : chart.series)
        if (std::ranges::find(names, series.name) == names.end())
            names.push_back(series.name);
    return names;
}

void check_series(const BarChart& chart, const BarSeries& series) {
    const auto has_each = [&](size_t count) { return count == chart.groups.size(); };
    if (!has_each(series.values.size()) ||
        !(series.texts.empty() || has_each(series.texts.size())))
        throw UsageError(fmt::format(
            "chart: \"{}\" has {} values and {} texts for {} groups: give it one for "
            "each group, or none where it has no bar",
            series.name, series.values.size(), series.texts.size(), chart.groups.size()));
    for (size_t g = 0; g < chart.groups.size(); ++g) {
        const double value = series.values[g].value_or(0);
        if (!std::isfinite(value))
            throw UsageError(fmt::format(
                "chart: \"{}\" has the value {} in the group \"{}\", and a chart has "
                "finite numbers only: leave the bar out",
                series.name, short_number(value), chart.groups[g]));
    }
}

// Returns the bars of a group, in the order of the series.
std::vector<Bar> bars_of(const BarChart& chart, size_t group) {
    const std::vector<std::string> names = names_of(chart);
    std::vector<Bar> bars;
    for (const BarSeries& series : chart.series) {
        if (!series.values[group]) continue;
        auto bar = series.stack.empty()
                       ? bars.end()
                       : std::ranges::find(bars, series.stack, &Bar::stack);
        if (bar == bars.end()) bar = bars.insert(bar, {.stack = series.stack});
        const double value = *series.values[group];
        const double begin = bar->segments.empty() ? 0 : bar->segments.back().end;
        bar->segments.push_back(
            {.index = static_cast<size_t>(std::ranges::find(names, series.name) -
                                          names.begin()),
             .begin = begin,
             .end = series.stack.empty() ? value : begin + value,
             .tooltip = fmt::format("{}{}{}: {}", chart.groups[group],
                                    series.name.empty() ? "" : ", ", series.name,
                                    short_number(value))});
        if (!series.texts.empty() && !series.texts[group].empty())
            bar->text = series.texts[group];
    }
    return bars;
}

// Returns all numbers that the axis must include.
std::vector<double> values_of(const BarChart& chart,
                              const std::vector<std::vector<Bar>>& groups) {
    std::vector<double> values{0};
    for (const auto& bars : groups)
        for (const Bar& bar : bars)
            for (const Segment& segment : bar.segments) values.push_back(segment.end);
    if (values.size() == 1)
        throw UsageError(
            fmt::format("chart: \"{}\" has {} series and no value: give it a value",
                        chart.text.title, chart.series.size()));
    for (const ChartReference& line : chart.references) values.push_back(line.value);
    return values;
}

std::vector<LegendEntry> legend_of(const BarChart& chart) {
    std::vector<LegendEntry> entries;
    for (const std::string& name : names_of(chart))
        entries.push_back({name, Swatch::kBar, entries.size()});
    for (const ChartReference& line : chart.references)
        entries.push_back({line.name, Swatch::kDashed, entries.size()});
    return entries;
}

double rows_height(const std::vector<Bar>& bars) {
    return kBarRow * static_cast<double>(std::max<size_t>(bars.size(), 1));
}

// Draws the bars of a group from height `y` on.
void draw_bars(ChartCanvas& canvas, const std::vector<Bar>& bars, double y, double left,
               const ChartScale& scale) {
    for (const Bar& bar : bars) {
        double greatest = scale.low();
        for (const Segment& segment : bar.segments) {
            const auto [low, high] = std::minmax(segment.begin, segment.end);
            greatest = std::max(greatest, high);
            canvas.begin_colour(segment.index);
            canvas.rectangle(scale.at(low), y, scale.at(high), y + kBarHeight,
                             segment.tooltip);
            canvas.end_colour();
        }
        if (!bar.text.empty())
            canvas.words(scale.at(greatest) + kTextGap, y + 11, bar.text, "small");
        if (!bar.stack.empty()) canvas.words(left - 8, y + 11, bar.stack, "small", "end");
        y += kBarRow;
    }
}

// Returns the bars of all groups. A stack that is alone in its group has no name there.
std::vector<std::vector<Bar>> groups_of(const BarChart& chart) {
    if (chart.axis.is_log)
        throw UsageError(
            "chart: bars begin at 0, and a logarithmic axis has only values "
            "above 0: make the axis linear");
    for (const BarSeries& series : chart.series) check_series(chart, series);
    std::vector<std::vector<Bar>> groups;
    for (size_t g = 0; g < chart.groups.size(); ++g) {
        groups.push_back(bars_of(chart, g));
        if (groups.back().size() == 1) groups.back().front().stack.clear();
    }
    return groups;
}

// Returns the width of the widest text of the bars.
double widest_of(const std::vector<std::vector<Bar>>& groups, std::string Bar::*text) {
    double widest = 0;
    for (const auto& bars : groups)
        for (const Bar& bar : bars)
            widest = std::max(widest, text_width(bar.*text, kSmallSize));
    return widest;
}

}  // namespace

std::string svg_of(const BarChart& chart) {
    const std::vector<std::vector<Bar>> groups = groups_of(chart);

    // Leave space for the names at the left and the bars' texts at the right.
    const double names = kChartMargin + widest_of(chart.groups, kTextSize);
    const double stacks = widest_of(groups, &Bar::stack);
    const double left = names + (stacks > 0 ? stacks + 12 : 0) + 12;
    const double right = std::max(left + 240, kChartWidth - kChartMargin - kTextGap -
                                                  widest_of(groups, &Bar::text));
    const ChartScale scale(chart.axis, values_of(chart, groups), left, right);
    ChartCanvas canvas;
    const double top = canvas.heading(chart.text, legend_of(chart)) + 12;
    double bottom = top - kGroupGap;
    for (const auto& bars : groups) bottom += rows_height(bars) + kGroupGap;
    const double height = canvas.horizontal_axis(chart.axis, scale, top - 8, bottom + 8);
    canvas.vertical(scale.at(0), top - 8, bottom + 8, "base");

    double y = top;
    for (size_t g = 0; g < groups.size(); ++g) {
        canvas.words(names, y + rows_height(groups[g]) / 2 + 4, chart.groups[g], "",
                     "end");
        draw_bars(canvas, groups[g], y, left, scale);
        y += rows_height(groups[g]) + kGroupGap;
    }
    size_t index = names_of(chart).size();
    for (const ChartReference& line : chart.references) {
        canvas.begin_colour(index++);
        canvas.vertical(scale.at(line.value), top - 8, bottom + 8, "line dashed");
        canvas.end_colour();
    }
    const std::string description =
        fmt::format("{} of {}.", chart.axis.label, fmt::join(chart.groups, ", "));
    return canvas.svg(chart.text, description, height);
}

}  // namespace mini::report
