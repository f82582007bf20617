// The chart of lanes over time. In a lane, spans that overlap are drawn in rows one below
// the other; a span inside another is below it, as in a profiler's trace.

#include <fmt/format.h>

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
#include "libmini/extras/report/chart_text.hpp"

namespace mini::report {
namespace {

constexpr double kSpanRow = 20, kSpanHeight = 18, kLaneGap = 10;
constexpr double kWidestLaneName = 180;
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

double widest_name(const Timeline& chart) {
    double widest = 0;
    for (const TimelineLane& lane : chart.lanes)
        for (const std::string& line : wrapped(lane.name, kWidestLaneName, kTextSize))
            widest = std::max(widest, text_width(line, kTextSize));
    return widest;
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

// Returns how long each name lasted in each lane, for readers who do not see the chart.
std::string description_of(const Timeline& chart) {
    std::string text;
    for (const TimelineLane& lane : chart.lanes) {
        std::vector<std::string> names;
        std::vector<double> sums;
        for (const TimelineSpan& span : lane.spans) {
            const size_t index = index_of(names, span.name);
            sums.resize(names.size());
            sums[index] += span.end - span.start;
        }
        text += fmt::format("{}{}:", text.empty() ? "" : " ", lane.name);
        for (size_t i = 0; i < names.size(); ++i)
            text += fmt::format("{} {} {} {}", i ? "," : "", names[i],
                                short_number(sums[i]), chart.time.label);
        text += ".";
    }
    return text;
}

}  // namespace

std::string svg_of(const Timeline& chart) {
    const std::vector<double> times = times_of(chart);
    std::vector<std::string> names;
    const std::vector<LegendEntry> entries = legend_of(chart, names);
    const double left = kChartMargin + widest_name(chart) + 12;
    const ChartScale time(chart.time, times, left, kChartWidth - kChartMargin);
    ChartCanvas canvas;
    const double top = canvas.legend(canvas.title(chart.text), entries) + 10;

    // Find the height of each lane: that of its rows or of its name.
    std::vector<std::vector<size_t>> rows;
    std::vector<double> tops = {top};
    for (const TimelineLane& lane : chart.lanes) {
        rows.push_back(rows_of(lane));
        const size_t count =
            rows.back().empty() ? 1 : *std::ranges::max_element(rows.back()) + 1;
        const size_t lines = wrapped(lane.name, kWidestLaneName, kTextSize).size();
        const double height = std::max(kSpanRow * static_cast<double>(count),
                                       kLineHeight * static_cast<double>(lines));
        tops.push_back(tops.back() + height + kLaneGap);
    }
    const double bottom = tops.back();
    const double height = horizontal_axis(canvas, chart.time, time, top - 4, bottom);

    for (size_t k = 0; k < chart.lanes.size(); ++k) {
        const TimelineLane& lane = chart.lanes[k];
        canvas.lines(left - 12, tops[k] + 14,
                     wrapped(lane.name, kWidestLaneName, kTextSize), "", "end");
        for (size_t i = 0; i < lane.spans.size(); ++i)
            draw_span(canvas, lane.spans[i], index_of(names, lane.spans[i].name),
                      tops[k] + kSpanRow * static_cast<double>(rows[k][i]), time,
                      chart.time.label);
    }
    for (size_t i = 0; i < chart.references.size(); ++i) {
        canvas.begin_colour(names.size() + i);
        canvas.vertical(time.at(chart.references[i].value), top - 4, bottom,
                        "line dashed");
        canvas.end_colour();
    }
    return canvas.svg(chart.text, description_of(chart), height);
}

}  // namespace mini::report
