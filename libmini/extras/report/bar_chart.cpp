// The chart of bars. Horizontal bars are rows with their group's name at the left;
// vertical bars whose texts would be too wide become horizontal ones.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/bar_groups.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/chart_axis.hpp"
#include "libmini/extras/report/chart_canvas.hpp"
#include "libmini/extras/report/chart_text.hpp"

namespace mini::report {
namespace {

constexpr double kRowHeight = 16, kWidestBar = 48, kBarGap = 3;
constexpr double kGroupGap = 14;
constexpr double kWidestLabel = 220;
constexpr double kTextGap = 6;

// Bars that grow to the right, or up: coordinates are along and across the values' axis.
struct Bars {
    const BarChart& chart;
    std::vector<std::string> names;
    GroupedBars groups;
    bool is_horizontal;
    ChartCanvas canvas{};

    void line(double along, double to, double across, const char* style) {
        if (is_horizontal)
            canvas.horizontal(along, to, across, style);
        else
            canvas.vertical(across, along, to, style);
    }
    void line_across(double along, double across, double to, const char* style) {
        if (is_horizontal)
            canvas.vertical(along, across, to, style);
        else
            canvas.horizontal(across, to, along, style);
    }
    void rectangle(double along, double to, double across, double across_to,
                   const std::string& tooltip) {
        if (is_horizontal)
            canvas.rectangle(along, across, to, across_to, tooltip);
        else
            canvas.rectangle(across, to, across_to, along, tooltip);
    }
};

std::vector<LegendEntry> legend_of(const Bars& bars) {
    std::vector<LegendEntry> entries;
    const bool has_names = bars.names.size() > 1 || !bars.names.front().empty();
    for (size_t i = 0; has_names && i < bars.names.size(); ++i)
        entries.push_back({.name = bars.names[i], .swatch = Swatch::kBar, .index = i});
    for (const BarMarks& marks : bars.chart.marks)
        entries.push_back({.name = marks.name, .swatch = Swatch::kMark});
    size_t index = bars.names.size();
    for (const ChartReference& line : bars.chart.references)
        entries.push_back(
            {.name = line.name, .swatch = Swatch::kDashed, .index = index++});
    return entries;
}

// Returns the largest width of one text of the bars.
double widest(const Bars& bars, std::string GroupedBar::*text) {
    double width = 0;
    for (const auto& group : bars.groups)
        for (const GroupedBar& bar : group)
            width = std::max(width, text_width(bar.*text, kSmallSize));
    return width;
}

double widest_end_text(const Bars& bars) { return widest(bars, &GroupedBar::text); }

double widest_stack(const Bars& bars) { return widest(bars, &GroupedBar::stack); }

double widest_label(const BarChart& chart) {
    double widest = 0;
    for (const std::string& group : chart.groups)
        for (const std::string& line : wrapped(group, kWidestLabel, kTextSize))
            widest = std::max(widest, text_width(line, kTextSize));
    return widest;
}

// Draws a bar with its error bar; returns the greatest value that it reaches.
double draw(Bars& bars, const GroupedBar& bar, double across, double across_to,
            const ChartScale& scale) {
    double greatest = bars.chart.base;
    for (const BarSegment& segment : bar.segments) {
        const auto [low, high] = std::minmax(segment.begin, segment.end);
        greatest = std::max(greatest, high);
        bars.canvas.begin_colour(segment.index);
        bars.rectangle(scale.at(low), scale.at(high), across, across_to, segment.tooltip);
        bars.canvas.end_colour();
    }
    if (!bar.spread) return greatest;
    const double low = scale.at(bar.spread->low), high = scale.at(bar.spread->high);
    const double middle = (across + across_to) / 2;
    bars.line(low, high, middle, "spread");
    bars.line_across(low, middle - 3, middle + 3, "spread");
    bars.line_across(high, middle - 3, middle + 3, "spread");
    return std::max(greatest, bar.spread->high);
}

// Draws the marks of a group; returns the greatest, or `greatest`.
double draw_marks(Bars& bars, size_t group, double across, double across_to,
                  const ChartScale& scale, double greatest) {
    for (const BarMarks& marks : bars.chart.marks) {
        if (!marks.values[group]) continue;
        bars.line_across(scale.at(*marks.values[group]), across, across_to, "mark");
        greatest = std::max(greatest, *marks.values[group]);
    }
    return greatest;
}

void draw_references(Bars& bars, double across, double across_to,
                     const ChartScale& scale) {
    size_t index = bars.names.size();
    for (const ChartReference& line : bars.chart.references) {
        bars.canvas.begin_colour(index++);
        bars.line_across(scale.at(line.value), across, across_to, "line dashed");
        bars.canvas.end_colour();
    }
}

// ---- rows

double row_height(const Bars& bars, size_t group) {
    const auto lines = wrapped(bars.chart.groups[group], kWidestLabel, kTextSize).size();
    return std::max(kRowHeight * static_cast<double>(bars.groups[group].size()),
                    kLineHeight * static_cast<double>(lines));
}

void draw_row(Bars& bars, size_t group, double top, double left,
              const ChartScale& scale) {
    const double height = row_height(bars, group);
    const auto label = wrapped(bars.chart.groups[group], kWidestLabel, kTextSize);
    const double label_height = kLineHeight * static_cast<double>(label.size());
    bars.canvas.lines(kChartMargin + widest_label(bars.chart),
                      top + (height - label_height) / 2 + 12.5, label, "", "end");
    const auto& group_bars = bars.groups[group];
    double y = top + (height - kRowHeight * static_cast<double>(group_bars.size())) / 2;
    for (const GroupedBar& bar : group_bars) {
        double greatest = draw(bars, bar, y, y + kRowHeight - kBarGap, scale);
        greatest = draw_marks(bars, group, y - 2, y + kRowHeight - 1, scale, greatest);
        if (!bar.text.empty())
            bars.canvas.words(scale.at(greatest) + kTextGap, y + 11, bar.text, "small");
        if (!bar.stack.empty())
            bars.canvas.words(left - 8, y + 11, bar.stack, "small", "end");
        y += kRowHeight;
    }
}

std::string svg_of_rows(Bars& bars) {
    const double stacks = widest_stack(bars);
    const double left =
        kChartMargin + widest_label(bars.chart) + (stacks > 0 ? stacks + 12 : 0) + 12;
    const double right = kChartWidth - kChartMargin - widest_end_text(bars) - kTextGap;
    const ChartScale scale(bars.chart.axis, values_of(bars.chart, bars.groups), left,
                           right);
    ChartCanvas& canvas = bars.canvas;
    const double top = canvas.legend(canvas.title(bars.chart.text), legend_of(bars)) + 12;

    double bottom = top;
    for (size_t g = 0; g < bars.groups.size(); ++g)
        bottom += row_height(bars, g) + (g ? kGroupGap : 0);
    const double height =
        horizontal_axis(canvas, bars.chart.axis, scale, top - 8, bottom + 8);
    bars.line_across(scale.at(bars.chart.base), top - 8, bottom + 8, "base");
    double y = top;
    for (size_t g = 0; g < bars.groups.size(); ++g) {
        draw_row(bars, g, y, left, scale);
        y += row_height(bars, g) + kGroupGap;
    }
    draw_references(bars, top - 8, bottom + 8, scale);
    return canvas.svg(bars.chart.text, description_of(bars.chart), height);
}

// ---- columns

// The borders of the groups of vertical bars.
struct Columns {
    double left, right, group_width = 0, bar_width = 0;
};

Columns columns_of(const Bars& bars, double left) {
    Columns columns{.left = left, .right = kChartWidth - kChartMargin};
    size_t most = 1;
    for (const auto& group : bars.groups) most = std::max(most, group.size());
    columns.group_width =
        (columns.right - left) / static_cast<double>(bars.chart.groups.size());
    columns.bar_width = std::min(
        kWidestBar, (columns.group_width - kGroupGap) / static_cast<double>(most));
    return columns;
}

// Returns whether all texts of vertical bars have room.
bool have_room(const Bars& bars, const Columns& columns) {
    if (columns.bar_width < kBarGap + 4) return false;
    if (std::max(widest_stack(bars), widest_end_text(bars)) > columns.bar_width)
        return false;
    for (const std::string& group : bars.chart.groups) {
        std::string words;
        for (const std::string& line : wrapped(group, columns.group_width - 4, kTextSize))
            words += concat(words.empty() ? "" : " ", line);
        if (words != group) return false;  // a word was divided
    }
    return true;
}

double label_height(const Bars& bars, const Columns& columns) {
    size_t most = 0;
    for (const std::string& group : bars.chart.groups)
        most = std::max(most, wrapped(group, columns.group_width - 4, kTextSize).size());
    return kLineHeight * static_cast<double>(most);
}

void draw_column(Bars& bars, size_t group, const Columns& columns, double bottom,
                 const ChartScale& scale) {
    const double middle =
        columns.left + (static_cast<double>(group) + 0.5) * columns.group_width;
    const auto& group_bars = bars.groups[group];
    const double width = columns.bar_width * static_cast<double>(group_bars.size());
    double x = middle - width / 2;
    for (const GroupedBar& bar : group_bars) {
        const double end = x + columns.bar_width - kBarGap;
        const double greatest = draw(bars, bar, x, end, scale);
        const double center = (x + end) / 2;
        if (!bar.text.empty())
            bars.canvas.words(center, scale.at(greatest) - 5, bar.text, "small",
                              "middle");
        if (!bar.stack.empty())
            bars.canvas.words(center, bottom + 15, bar.stack, "small", "middle");
        x += columns.bar_width;
    }
    draw_marks(bars, group, middle - width / 2 - 3, middle + width / 2, scale, 0);
    bars.canvas.lines(
        middle, bottom + (widest_stack(bars) > 0 ? 34 : 18),
        wrapped(bars.chart.groups[group], columns.group_width - 4, kTextSize), "",
        "middle");
}

std::string svg_of_columns(Bars& bars) {
    ChartCanvas& canvas = bars.canvas;
    const double axis_label =
        canvas.legend(canvas.title(bars.chart.text), legend_of(bars));
    const double top = axis_label + 30, bottom = top + kPlotHeight;
    const ChartScale scale(bars.chart.axis, values_of(bars.chart, bars.groups), bottom,
                           top);
    const Columns columns = columns_of(bars, kChartMargin + widest_tick(scale) + 10);
    canvas.words(kChartMargin, axis_label + 14, bars.chart.axis.label, "small");
    for (const ChartTick& tick : scale.ticks()) {
        canvas.horizontal(columns.left, columns.right, scale.at(tick.value), "grid");
        canvas.words(columns.left - 8, scale.at(tick.value) + 4, tick.text, "small",
                     "end");
    }
    bars.line_across(scale.at(bars.chart.base), columns.left, columns.right, "base");
    for (size_t g = 0; g < bars.groups.size(); ++g)
        draw_column(bars, g, columns, bottom, scale);
    draw_references(bars, columns.left, columns.right, scale);
    const double stacks = widest_stack(bars) > 0 ? 16 : 0;
    return canvas.svg(bars.chart.text, description_of(bars.chart),
                      bottom + stacks + label_height(bars, columns) + 18);
}

}  // namespace

std::string svg_of(const BarChart& chart) {
    Bars bars{.chart = chart,
              .names = names_of(chart),
              .groups = bars_of(chart),
              .is_horizontal = chart.is_horizontal};
    const ChartScale scale(chart.axis, values_of(chart, bars.groups), 1, 0);
    const Columns columns = columns_of(bars, kChartMargin + widest_tick(scale) + 10);
    bars.is_horizontal |= !have_room(bars, columns);
    return bars.is_horizontal ? svg_of_rows(bars) : svg_of_columns(bars);
}

}  // namespace mini::report
