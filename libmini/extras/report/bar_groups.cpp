#include "libmini/extras/report/bar_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart_text.hpp"

namespace mini::report {
namespace {

void check_count(const std::string& name, const char* what, size_t count, size_t groups) {
    if (count != groups)
        throw UsageError(fmt::format(
            "chart: \"{}\" has {} {} for {} groups: give it one for each group, or none "
            "where it has no bar",
            name, count, what, groups));
}

void check_value(const BarChart& chart, const BarSeries& series, size_t group,
                 double value) {
    const auto fail = [&](const std::string& what) {
        throw UsageError(
            fmt::format("chart: \"{}\" has the value {} in the group \"{}\", "
                        "and {}",
                        series.name, short_number(value), chart.groups[group], what));
    };
    if (!std::isfinite(value)) fail("a chart has finite numbers only: leave the bar out");
    if (chart.axis.is_log && value <= 0)
        fail(
            "a logarithmic axis has only values above 0: leave the bar out, or make the "
            "axis linear");
    if (!series.stack.empty() && value < chart.base)
        fail(fmt::format("bars of a stack grow from {}: leave the stack's name out",
                         short_number(chart.base)));
}

void check(const BarChart& chart) {
    if (chart.axis.is_log && chart.base <= 0)
        throw UsageError(
            fmt::format("chart: bars begin at {}, and a logarithmic axis has only values "
                        "above 0: set "
                        "the base, to 1 for ratios",
                        short_number(chart.base)));
    bool has_bar = false;
    for (const BarSeries& series : chart.series) {
        check_count(series.name, "values", series.values.size(), chart.groups.size());
        if (!series.spreads.empty())
            check_count(series.name, "spreads", series.spreads.size(),
                        chart.groups.size());
        if (!series.texts.empty())
            check_count(series.name, "texts", series.texts.size(), chart.groups.size());
        for (size_t g = 0; g < series.values.size(); ++g)
            if (series.values[g]) {
                check_value(chart, series, g, *series.values[g]);
                has_bar = true;
            }
    }
    for (const BarMarks& marks : chart.marks)
        check_count(marks.name, "marks", marks.values.size(), chart.groups.size());
    if (!has_bar)
        throw UsageError(
            fmt::format("chart: \"{}\" has {} series and no value: give it a "
                        "value",
                        chart.text.title, chart.series.size()));
}

// Adds the value of a series in group `g` to the bars of the group: to the bar of its
// stack, or as a new bar.
void add(std::vector<GroupedBar>& bars, const BarChart& chart, const BarSeries& series,
         size_t index, size_t g) {
    auto bar = series.stack.empty()
                   ? bars.end()
                   : std::ranges::find(bars, series.stack, &GroupedBar::stack);
    if (bar == bars.end()) bar = bars.insert(bar, {.stack = series.stack});
    const double value = *series.values[g];
    const double begin = bar->segments.empty() ? chart.base : bar->segments.back().end;
    bar->segments.push_back(
        {.index = index,
         .begin = begin,
         .end = series.stack.empty() ? value : begin + value - chart.base,
         .tooltip =
             fmt::format("{}{}{}: {}", chart.groups[g], series.name.empty() ? "" : ", ",
                         series.name, short_number(value))});
    if (!series.texts.empty() && !series.texts[g].empty()) bar->text = series.texts[g];
    if (!series.spreads.empty() && series.spreads[g]) bar->spread = series.spreads[g];
}

bool has_one_stack(const BarChart& chart) {
    return std::ranges::all_of(chart.series, [&](const BarSeries& series) {
        return series.stack == chart.series.front().stack;
    });
}

}  // namespace

std::vector<std::string> names_of(const BarChart& chart) {
    std::vector<std::string> names;
    for (const BarSeries& series : chart.series)
        if (std::ranges::find(names, series.name) == names.end())
            names.push_back(series.name);
    return names;
}

GroupedBars bars_of(const BarChart& chart) {
    check(chart);
    const std::vector<std::string> names = names_of(chart);
    GroupedBars groups(chart.groups.size());
    for (const BarSeries& series : chart.series) {
        const auto index = std::ranges::find(names, series.name) - names.begin();
        for (size_t g = 0; g < groups.size(); ++g)
            if (series.values[g])
                add(groups[g], chart, series, static_cast<size_t>(index), g);
    }
    if (has_one_stack(chart))  // its name would be beside every bar
        for (auto& bars : groups)
            for (GroupedBar& bar : bars) bar.stack.clear();
    return groups;
}

std::vector<double> values_of(const BarChart& chart, const GroupedBars& groups) {
    std::vector<double> values = {chart.base};
    for (const auto& bars : groups)
        for (const GroupedBar& bar : bars) {
            for (const BarSegment& segment : bar.segments) values.push_back(segment.end);
            if (!bar.spread) continue;
            values.push_back(bar.spread->low);
            values.push_back(bar.spread->high);
        }
    for (const BarMarks& marks : chart.marks)
        for (const std::optional<double>& mark : marks.values)
            if (mark) values.push_back(*mark);
    for (const ChartReference& line : chart.references) values.push_back(line.value);
    return values;
}

std::string description_of(const BarChart& chart) {
    std::string text = fmt::format("Bars of {}.", chart.axis.label);
    for (size_t g = 0; g < chart.groups.size(); ++g) {
        std::string values;
        for (const BarSeries& series : chart.series) {
            if (!series.values[g]) continue;
            values += values.empty() ? "" : ",";
            for (const std::string& word : {series.stack, series.name})
                if (!word.empty()) values += concat(" ", word);
            values += fmt::format(" {}", short_number(*series.values[g]));
        }
        for (const BarMarks& marks : chart.marks)
            if (marks.values[g])
                values +=
                    fmt::format(", {} {}", marks.name, short_number(*marks.values[g]));
        if (!values.empty()) text += fmt::format(" {}:{}.", chart.groups[g], values);
    }
    for (const ChartReference& line : chart.references)
        text += fmt::format(" {}: {}.", line.name, short_number(line.value));
    return text;
}

}  // namespace mini::report
