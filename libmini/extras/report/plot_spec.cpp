#include "libmini/extras/report/plot_spec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/report/plot_value.hpp"

namespace mini::report {
namespace {

using Keys = std::vector<std::string>;

// Returns the keys of a kind of chart: its own and those of all kinds.
Keys with_common(Keys keys) {
    keys.insert(keys.begin(), {"type", "title", "description", "id"});
    return keys;
}

ChartText text_of(const SpecValue& spec) {
    ChartText text{.title = spec.at("title", "\"Loss by epoch\"").text()};
    if (const auto description = spec.find("description"))
        text.description = description->text();
    if (const auto id = spec.find("id")) text.id = id->text();
    return text;
}

ChartTick tick_of(const SpecValue& value) {
    if (!value.is_list()) {
        constexpr double kSixDigits = 1e-5;
        const double number = value.number(), size = std::abs(number);
        return {number, number_text(number, size == 0 ? 1 : size * kSixDigits)};
    }
    const auto pair = value.list();
    if (pair.size() != 2) value.fail("a number, or [number, text]");
    return {pair[0].number(), pair[1].text()};
}

ChartAxis axis_of(const SpecValue& value) {
    if (value.is_text()) return {.label = value.text()};
    value.allow({"label", "log", "from_zero", "ticks"});
    ChartAxis axis{.label = value.at("label", "\"ms\"").text()};
    if (const auto log = value.find("log")) axis.is_log = log->flag();
    if (const auto from_zero = value.find("from_zero"))
        axis.from_zero = from_zero->flag();
    if (const auto ticks = value.find("ticks"))
        for (const SpecValue& tick : ticks->list()) axis.ticks.push_back(tick_of(tick));
    return axis;
}

// ---- lines

ChartPoint point_of(const SpecValue& value) {
    constexpr const char* kWanted = "[x, y] or [x, y, low, high]";
    if (!value.is_list()) value.fail(kWanted);
    const auto numbers = value.list();
    if (numbers.size() != 2 && numbers.size() != 4) value.fail(kWanted);
    ChartPoint point{.x = numbers[0].number(), .y = numbers[1].number()};
    if (numbers.size() == 4)
        point.spread = {.low = numbers[2].number(), .high = numbers[3].number()};
    return point;
}

SeriesStyle style_of(const SpecValue& value) {
    const std::string word = value.text();
    if (word == "line") return SeriesStyle::kLine;
    if (word == "points") return SeriesStyle::kPoints;
    if (word == "dotted") return SeriesStyle::kDotted;
    value.fail("line, points or dotted");
}

ChartSeries series_of(const SpecValue& value, SeriesStyle style) {
    value.allow({"name", "points", "style"});
    ChartSeries series{.name = value.at("name", "\"rank 0\"").text(), .style = style};
    for (const SpecValue& point : value.at("points", "[[1, 2.5], [2, 3.5]]").list())
        series.points.push_back(point_of(point));
    if (const auto own = value.find("style")) series.style = style_of(*own);
    return series;
}

LineChart line_chart_of(const SpecValue& spec, SeriesStyle style) {
    spec.allow(with_common({"x", "y", "series", "references"}));
    LineChart chart{.text = text_of(spec),
                    .x = axis_of(spec.at("x", "\"epoch\"")),
                    .y = axis_of(spec.at("y", "\"loss\""))};
    for (const SpecValue& series :
         spec.at("series", "[{\"name\": \"loss\", \"points\": [[1, 2.5]]}]").list())
        chart.series.push_back(series_of(series, style));
    const auto references = spec.find("references");
    if (!references) return chart;
    for (const SpecValue& value : references->list()) {
        value.allow({"name", "x", "y"});
        const std::string name = value.at("name", "\"the limit\"").text();
        if (const auto x = value.find("x"))
            chart.x_references.push_back({name, x->number()});
        else
            chart.y_references.push_back({name, value.at("y", "1").number()});
    }
    return chart;
}

// ---- bars and timelines

std::vector<std::optional<double>> values_of(const SpecValue& list) {
    std::vector<std::optional<double>> values;
    for (const SpecValue& value : list.list())
        values.push_back(value.is_null() ? std::nullopt : std::optional(value.number()));
    return values;
}

std::vector<ChartReference> references_of(const SpecValue& spec) {
    std::vector<ChartReference> references;
    const auto list = spec.find("references");
    if (!list) return references;
    for (const SpecValue& value : list->list()) {
        value.allow({"name", "value"});
        references.push_back(
            {value.at("name", "\"the limit\"").text(), value.at("value", "1").number()});
    }
    return references;
}

std::optional<ChartRange> range_of(const SpecValue& value) {
    if (value.is_null()) return std::nullopt;
    const auto ends = value.list();
    if (ends.size() != 2) value.fail("[low, high] or null");
    return ChartRange{.low = ends[0].number(), .high = ends[1].number()};
}

BarSeries bar_series_of(const SpecValue& value) {
    value.allow({"name", "stack", "values", "spreads", "texts"});
    BarSeries series{.name = value.at("name", "\"forward\"").text()};
    series.values = values_of(value.at("values", "[1.5, null]"));
    if (const auto stack = value.find("stack")) series.stack = stack->text();
    if (const auto spreads = value.find("spreads"))
        for (const SpecValue& range : spreads->list())
            series.spreads.push_back(range_of(range));
    if (const auto texts = value.find("texts"))
        for (const SpecValue& text : texts->list()) series.texts.push_back(text.text());
    return series;
}

BarChart bar_chart_of(const SpecValue& spec) {
    spec.allow(with_common(
        {"groups", "axis", "series", "marks", "references", "base", "horizontal"}));
    BarChart chart{.text = text_of(spec)};
    for (const SpecValue& group : spec.at("groups", "[\"conv1\", \"conv2\"]").list())
        chart.groups.push_back(group.text());
    chart.axis = axis_of(spec.at("axis", "\"ms\""));
    for (const SpecValue& series :
         spec.at("series", "[{\"name\": \"forward\", \"values\": [1.5, 2]}]").list())
        chart.series.push_back(bar_series_of(series));
    if (const auto marks = spec.find("marks"))
        for (const SpecValue& value : marks->list()) {
            value.allow({"name", "values"});
            chart.marks.push_back({value.at("name", "\"the floor\"").text(),
                                   values_of(value.at("values", "[1, null]"))});
        }
    chart.references = references_of(spec);
    if (const auto base = spec.find("base")) chart.base = base->number();
    if (const auto horizontal = spec.find("horizontal"))
        chart.is_horizontal = horizontal->flag();
    return chart;
}

TimelineSpan span_of(const SpecValue& value) {
    value.allow({"name", "start", "end", "text"});
    TimelineSpan span{.name = value.at("name", "\"forward\"").text(),
                      .start = value.at("start", "0").number(),
                      .end = value.at("end", "1.5").number()};
    if (const auto text = value.find("text")) span.text = text->text();
    return span;
}

Timeline timeline_of(const SpecValue& spec) {
    spec.allow(with_common({"time", "lanes", "references"}));
    Timeline chart{.text = text_of(spec), .time = axis_of(spec.at("time", "\"ms\""))};
    for (const SpecValue& value :
         spec.at("lanes", "[{\"name\": \"rank 0\", \"spans\": []}]").list()) {
        value.allow({"name", "spans"});
        TimelineLane lane{.name = value.at("name", "\"rank 0\"").text()};
        for (const SpecValue& span : value
                                         .at("spans",
                                             "[{\"name\": \"forward\", \"start\": 0, "
                                             "\"end\": 1.5}]")
                                         .list())
            lane.spans.push_back(span_of(span));
        chart.lanes.push_back(lane);
    }
    chart.references = references_of(spec);
    return chart;
}

}  // namespace

Chart parse_chart(const std::string& text, const std::string& file) {
    nlohmann::ordered_json json;
    try {
        json = nlohmann::ordered_json::parse(text);
    } catch (const nlohmann::json::exception& error) {
        const std::string what = error.what();  // "[json.exception.NUMBER] MESSAGE"
        throw BadFile(
            fmt::format("{}: not JSON: {}", file, what.substr(what.find(']') + 2)));
    }
    const SpecValue spec(json, file);
    if (!json.is_object()) spec.fail("an object with the keys type, title, ...");
    const SpecValue type =
        spec.at("type", "\"line\", \"scatter\", \"bar\" or \"timeline\"");
    const std::string word = type.text();
    if (word == "line") return line_chart_of(spec, SeriesStyle::kLine);
    if (word == "scatter") return line_chart_of(spec, SeriesStyle::kPoints);
    if (word == "bar") return bar_chart_of(spec);
    if (word == "timeline") return timeline_of(spec);
    type.fail("line, scatter, bar or timeline");
}

}  // namespace mini::report
