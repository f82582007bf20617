// The chart of lanes over time. In a lane, spans that overlap are drawn in rows one below
// the other; a span inside another is below it, as in a profiler's trace.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/chart_axis.hpp"
#include "libmini/extras/report/chart_canvas.hpp"

namespace mini::report {
namespace {

constexpr double kSpanRow = 20, kSpanHeight = 18, kLaneGap = 10;
constexpr double kTextMargin = 4;  // between a span's border and its text

// Returns the position of `name` in the list, and adds it if it is new.
size_t index_of(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<size_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return index;
}

std::vector<double> times_of(const Timeline& chart) {
    std::vector<double> times;
    for (const TimelineLane& lane : chart.lanes)
        for (const TimelineSpan& span : lane.spans) {
            if (!(span.start <= span.end))
                throw UsageError(fmt::format(
                    "chart: \"{}\" of {} starts at {} and ends at {}: a span must not "
                    "end "
                    "before it starts",
                    span.name, lane.name, short_number(span.start),
                    short_number(span.end)));
            times.push_back(span.start);
            times.push_back(span.end);
        }
    if (times.empty())
        throw UsageError(
            fmt::format("chart: \"{}\" has {} lanes and no span: give it a span",
                        chart.text.title, chart.lanes.size()));
    for (const ChartReference& line : chart.references) times.push_back(line.value);
    return times;
}

// Returns the row of each span: the first row that is free when the span starts. Of spans
// with one start, the longest is first.
std::vector<size_t> rows_of(const TimelineLane& lane) {
    std::vector<size_t> order(lane.spans.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
        const TimelineSpan &x = lane.spans[a], &y = lane.spans[b];
        return x.start != y.start ? x.start < y.start : x.end > y.end;
    });
    std::vector<size_t> rows(lane.spans.size());
    std::vector<double> free_from;  // of each row
    for (const size_t i : order) {
        const TimelineSpan& span = lane.spans[i];
        const auto row = std::ranges::find_if(
            free_from, [&](double time) { return time <= span.start; });
        rows[i] = static_cast<size_t>(row - free_from.begin());
        if (row == free_from.end()) free_from.push_back(0);
        free_from[rows[i]] = span.end;
    }
    return rows;
}

double height_of(const TimelineLane& lane) {
    const std::vector<size_t> rows = rows_of(lane);
    const size_t count = rows.empty() ? 1 : std::ranges::max(rows) + 1;
    return kSpanRow * static_cast<double>(count) + kLaneGap;
}

std::string tooltip_of(const TimelineSpan& span, const std::string& unit) {
    std::string text = span.text.empty() || span.text == span.name
                           ? span.name
                           : fmt::format("{}, {}", span.name, span.text);
    if (span.start == span.end)
        return fmt::format("{}: at {} {}", text, short_number(span.start), unit);
    return fmt::format("{}: {} to {} {} ({})", text, short_number(span.start),
                       short_number(span.end), unit, short_number(span.end - span.start));
}

// Draws a span, and its text if there is room for it.
void draw_span(ChartCanvas& canvas, const TimelineSpan& span, size_t index, double y,
               const ChartScale& time, const std::string& unit) {
    const double start = time.at(span.start), end = time.at(span.end);
    canvas.begin_colour(index);
    if (span.start == span.end) {
        canvas.vertical(start, y, y + kSpanHeight, "line");
        canvas.marker(start, y + kSpanHeight / 2, index, tooltip_of(span, unit));
    } else {
        canvas.rectangle(start, y, std::max(end - 1, start + 1), y + kSpanHeight,
                         tooltip_of(span, unit));
        const std::string& text = span.text.empty() ? span.name : span.text;
        if (text_width(text, kSmallSize) + 2 * kTextMargin <= end - start)
            canvas.words(start + kTextMargin, y + 13, text, "small inside");
    }
    canvas.end_colour();
}

std::vector<LegendEntry> legend_of(const Timeline& chart,
                                   std::vector<std::string>& names) {
    for (const TimelineLane& lane : chart.lanes)
        for (const TimelineSpan& span : lane.spans) index_of(names, span.name);
    std::vector<LegendEntry> entries;
    for (const std::string& name : names)
        entries.push_back(
            {.name = name, .swatch = Swatch::kBar, .index = entries.size()});
    for (const ChartReference& line : chart.references)
        entries.push_back(
            {.name = line.name, .swatch = Swatch::kDashed, .index = entries.size()});
    return entries;
}

}  // namespace

std::string svg_of(const Timeline& chart) {
    const std::vector<double> times = times_of(chart);
    std::vector<std::string> names, lanes;
    const std::vector<LegendEntry> entries = legend_of(chart, names);
    for (const TimelineLane& lane : chart.lanes) lanes.push_back(lane.name);
    const double left = kChartMargin + widest_of(lanes, kTextSize) + 12;
    const ChartScale time(chart.time, times, left,
                          std::max(left + 240, kChartWidth - kChartMargin));
    ChartCanvas canvas;
    const double top = canvas.heading(chart.text, entries) + 10;
    double bottom = top;
    for (const TimelineLane& lane : chart.lanes) bottom += height_of(lane);
    const double height = canvas.horizontal_axis(chart.time, time, top - 4, bottom);
    double y = top;
    for (const TimelineLane& lane : chart.lanes) {
        canvas.words(left - 12, y + 14, lane.name, "", "end");
        const std::vector<size_t> rows = rows_of(lane);
        for (size_t i = 0; i < lane.spans.size(); ++i)
            draw_span(canvas, lane.spans[i], index_of(names, lane.spans[i].name),
                      y + kSpanRow * static_cast<double>(rows[i]), time,
                      chart.time.label);
        y += height_of(lane);
    }
    size_t index = names.size();
    for (const ChartReference& line : chart.references) {
        canvas.begin_colour(index++);
        canvas.vertical(time.at(line.value), top - 4, bottom, "line dashed");
        canvas.end_colour();
    }
    return canvas.svg(chart.text,
                      fmt::format("{}: {}.", chart.time.label, fmt::join(lanes, ", ")),
                      height);
}

}  // namespace mini::report
