// The chart of rows: bars and timelines.
//
//     conv1   im2col |=====| 28          rank 0   |[forward][ backward ]
//             direct |=======| 45                 |      o bucket 0
//     group   row     spans   text

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/chart_axis.hpp"
#include "libmini/extras/report/chart_canvas.hpp"

namespace mini::report {
namespace {

constexpr double kRow = 16, kBarHeight = 13, kGroupGap = 14, kTextGap = 6;

// Calls visit(row) for each row of the chart.
template <typename Visit>
void for_each_row(const RowChart& chart, const Visit& visit) {
    for (const RowGroup& group : chart.groups)
        for (const ChartRow& row : group.rows) visit(row);
}

// Returns the names of the spans, each once.
std::vector<std::string> names_of(const RowChart& chart) {
    std::vector<std::string> names;
    for_each_row(chart, [&](const ChartRow& row) {
        for (const ChartSpan& span : row.spans)
            if (std::ranges::find(names, span.name) == names.end())
                names.push_back(span.name);
    });
    return names;
}

// Returns all numbers that the axis must include.
std::vector<double> values_of(const RowChart& chart) {
    std::vector<double> values{0};
    for_each_row(chart, [&](const ChartRow& row) {
        for (const ChartSpan& span : row.spans) {
            values.push_back(span.start);
            values.push_back(span.end);
        }
    });
    if (values.size() == 1)
        throw UsageError("chart: \"", chart.text.title,
                         "\" has no value: give it a value");
    for (const ChartReference& line : chart.references) values.push_back(line.value);
    return values;
}

std::vector<LegendEntry> legend_of(const RowChart& chart,
                                   const std::vector<std::string>& names) {
    std::vector<LegendEntry> entries;
    for (const std::string& name : names)
        entries.push_back({name, Swatch::kBar, entries.size()});
    for (const ChartReference& line : chart.references)
        entries.push_back({line.name, Swatch::kDashed, entries.size()});
    return entries;
}

double height_of(const RowGroup& group) {
    return kRow * static_cast<double>(std::max<size_t>(group.rows.size(), 1));
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

// Draws a span, or a marker for a moment, with a top at height `y`.
void draw_span(ChartCanvas& canvas, const ChartSpan& span, double y,
               const ChartScale& scale, size_t index, const std::string& unit) {
    const std::string start = short_number(span.start);
    canvas.begin_colour(index);
    if (span.start == span.end)
        canvas.marker(scale.at(span.start), y + kBarHeight / 2, index,
                      fmt::format("{}: at {} {}", span.name, start, unit));
    else
        canvas.rectangle(
            scale.at(span.start), y, scale.at(span.end), y + kBarHeight,
            fmt::format("{}: {} to {} {} ({})", span.name, start, short_number(span.end),
                        unit, short_number(span.end - span.start)));
    canvas.end_colour();
}

}  // namespace

std::string svg_of(const RowChart& chart) {
    const std::vector<std::string> names = names_of(chart);

    // Leave space for the names at the left and the rows' texts at the right.
    std::vector<std::string> groups, rows, texts;
    for (const RowGroup& group : chart.groups) groups.push_back(group.name);
    for_each_row(chart, [&](const ChartRow& row) {
        rows.push_back(row.name);
        texts.push_back(row.text);
    });
    const double group_end = kChartMargin + widest_of(groups, kTextSize);
    const double row_width = widest_of(rows, kSmallSize);
    const double left = group_end + (row_width > 0 ? row_width + 12 : 0) + 12;
    const double right =
        std::max(left + kLeastPlotWidth,
                 kChartWidth - kChartMargin - kTextGap - widest_of(texts, kSmallSize));
    const ChartScale scale(chart.axis, values_of(chart), left, right);
    ChartCanvas canvas;
    const double top = canvas.heading(chart.text, legend_of(chart, names)) + 12;
    double bottom = top - kGroupGap;
    for (const RowGroup& group : chart.groups) bottom += height_of(group) + kGroupGap;
    const double height = canvas.horizontal_axis(chart.axis, scale, top - 8, bottom + 8);
    canvas.vertical(scale.at(0), top - 8, bottom + 8, "base");

    double y = top;
    for (const RowGroup& group : chart.groups) {
        canvas.words(group_end, y + height_of(group) / 2 + 4, group.name, "", "end");
        const double end = y + height_of(group) + kGroupGap;
        for (const ChartRow& row : group.rows) {
            double greatest = scale.at(0);
            for (const ChartSpan& span : row.spans) {
                const auto name = std::ranges::find(names, span.name);
                draw_span(canvas, span, y, scale,
                          static_cast<size_t>(name - names.begin()), chart.axis.label);
                greatest = std::max(greatest, scale.at(span.end));
            }
            if (!row.text.empty())
                canvas.words(greatest + kTextGap, y + 11, row.text, "small");
            if (!row.name.empty())
                canvas.words(left - 8, y + 11, row.name, "small", "end");
            y += kRow;
        }
        y = end;
    }
    size_t index = names.size();
    for (const ChartReference& line : chart.references) {
        canvas.begin_colour(index++);
        canvas.vertical(scale.at(line.value), top - 8, bottom + 8, "line dashed");
        canvas.end_colour();
    }
    return canvas.svg(chart.text,
                      fmt::format("{} of {}.", chart.axis.label, fmt::join(groups, ", ")),
                      height);
}

}  // namespace mini::report
