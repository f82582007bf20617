// The chart of lanes over time.

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
    return times;
}

bool is_moment(const TimelineSpan& span) { return span.start == span.end; }

double height_of(const TimelineLane& lane) {
    const bool has_moments = std::ranges::any_of(lane.spans, is_moment);
    return kSpanRow * (has_moments ? 2 : 1) + kLaneGap;
}

std::string tooltip_of(const TimelineSpan& span, const std::string& unit) {
    std::string text = span.text.empty() || span.text == span.name
                           ? span.name
                           : fmt::format("{}, {}", span.name, span.text);
    if (is_moment(span))
        return fmt::format("{}: at {} {}", text, short_number(span.start), unit);
    return fmt::format("{}: {} to {} {} ({})", text, short_number(span.start),
                       short_number(span.end), unit, short_number(span.end - span.start));
}

// Draws a span, and its text if there is room for it.
void draw_span(ChartCanvas& canvas, const TimelineSpan& span, size_t index, double y,
               const ChartScale& time, const std::string& unit) {
    const double start = time.at(span.start), end = time.at(span.end);
    canvas.begin_colour(index);
    if (is_moment(span)) {
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
        for (const TimelineSpan& span : lane.spans)
            draw_span(canvas, span, index_of(names, span.name),
                      is_moment(span) ? y + kSpanRow : y, time, chart.time.label);
        y += height_of(lane);
    }
    return canvas.svg(chart.text,
                      fmt::format("{}: {}.", chart.time.label, fmt::join(lanes, ", ")),
                      height);
}

}  // namespace mini::report
