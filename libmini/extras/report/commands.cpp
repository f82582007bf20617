#include "libmini/extras/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/metrics.hpp"
#include "libmini/extras/report/page.hpp"
#include "libmini/extras/report/trace.hpp"
#include "libmini/io/file.hpp"

namespace mini::report {
namespace {

// The description of a chart in JSON, which `mini plot` draws. What is in [] is optional.
//
//     {"type": "line", "title": T, "x": AXIS, "y": AXIS,
//      "series": [{"name": T, "points": [[x, y], ...], ["style": "points" or "dotted"]}],
//      ["references": [{"name": T, "y": N}, ...]]}
//     {"type": "bar", "title": T, "groups": [T, ...], "axis": AXIS,
//      "series": [{"name": T, "values": [N or null, ...], ["stack": T, "texts": [T, ...]]}],
//      ["references": [{"name": T, "value": N}, ...]]}
//     AXIS  T, or {"label": T, ["log": true, "from_zero": true, "ticks": [N or [N, T]]]}
using json = nlohmann::ordered_json;

// Throws BadFile unless `value` is an object that has no other keys than these.
void allow(const json& value, const std::string& what,
           const std::vector<std::string>& keys) {
    if (!value.is_object())
        throw BadFile(what, " is ", value.dump().substr(0, 60),
                      ", but must be an object with the keys ", join(keys));
    for (const auto& [key, unused] : value.items())
        if (std::ranges::find(keys, key) == keys.end())
            throw BadFile(what, " has the unknown key ", key, "; its keys are ",
                          join(keys));
}

ChartTick tick_of(const json& value) {
    if (value.is_array()) return {value.at(0), value.at(1)};
    constexpr double kSixDigits = 1e-5;
    const double number = value, size = std::abs(number);
    return {number, number_text(number, size == 0 ? 1 : size * kSixDigits)};
}

ChartAxis axis_of(const json& value) {
    if (value.is_string()) return {.label = value};
    allow(value, "an axis", {"label", "log", "from_zero", "ticks"});
    ChartAxis axis{.label = value.at("label"),
                   .is_log = value.value("log", false),
                   .from_zero = value.value("from_zero", false)};
    for (const json& tick : value.value("ticks", json::array()))
        axis.ticks.push_back(tick_of(tick));
    return axis;
}

SeriesStyle style_of(const std::string& word) {
    if (word == "line") return SeriesStyle::kLine;
    if (word == "points") return SeriesStyle::kPoints;
    if (word == "dotted") return SeriesStyle::kDotted;
    throw BadFile("a style is ", word, ", but must be line, points or dotted");
}

std::vector<ChartReference> references_of(const json& spec, const char* value) {
    std::vector<ChartReference> references;
    for (const json& line : spec.value("references", json::array())) {
        allow(line, "a reference", {"name", value});
        references.push_back({line.at("name"), line.at(value)});
    }
    return references;
}

LineChart line_chart_of(const json& spec) {
    allow(spec, "the chart", {"type", "title", "x", "y", "series", "references"});
    LineChart chart{.text = {.title = spec.at("title")},
                    .x = axis_of(spec.at("x")),
                    .y = axis_of(spec.at("y")),
                    .references = references_of(spec, "y")};
    for (const json& series : spec.at("series")) {
        allow(series, "a series", {"name", "points", "style"});
        chart.series.push_back({.name = series.at("name"),
                                .style = style_of(series.value("style", "line"))});
        for (const json& point : series.at("points")) {
            if (!point.is_array() || point.size() != 2)
                throw BadFile("a point is ", point.dump().substr(0, 60),
                              ", but must be [x, y]");
            chart.series.back().points.push_back({.x = point[0], .y = point[1]});
        }
    }
    return chart;
}

// Adds a value to the row of its stack, or as a row of its own.
void add_bar(RowGroup& group, const std::string& name, const std::string& stack,
             double value, const std::string& text) {
    auto row = stack.empty() ? group.rows.end()
                             : std::ranges::find(group.rows, stack, &ChartRow::name);
    if (row == group.rows.end()) row = group.rows.insert(row, {.name = stack});
    const double start = row->spans.empty() ? 0 : row->spans.back().end;
    const double end = start + value;
    row->spans.push_back(
        {.name = name, .start = std::min(start, end), .end = std::max(start, end)});
    if (!text.empty()) row->text = text;
}

// Adds a series, which has a value or null for each group.
void add_series(RowChart& chart, const json& series) {
    allow(series, "a series", {"name", "stack", "values", "texts"});
    const std::string name = series.at("name");
    const json& values = series.at("values");
    auto texts = series.value("texts", std::vector<std::string>());
    const size_t count = chart.groups.size();
    if (values.size() != count || !(texts.empty() || texts.size() == count))
        throw BadFile("\"", name, "\" has ", values.size(), " values and ", texts.size(),
                      " texts for ", count,
                      " groups: give it one for each group, or null where it has "
                      "no bar");
    texts.resize(count);
    for (size_t g = 0; g < count; ++g)
        if (!values[g].is_null())
            add_bar(chart.groups[g], name, series.value("stack", ""), values[g],
                    texts[g]);
}

RowChart bar_chart_of(const json& spec) {
    allow(spec, "the chart", {"type", "title", "groups", "axis", "series", "references"});
    RowChart chart{.text = {.title = spec.at("title")},
                   .axis = axis_of(spec.at("axis")),
                   .references = references_of(spec, "value")};
    if (chart.axis.is_log)
        throw BadFile(
            "bars begin at 0, and a logarithmic axis has only values above 0: make the "
            "axis linear");
    for (const json& name : spec.at("groups")) chart.groups.push_back({.name = name});
    for (const json& series : spec.at("series")) add_series(chart, series);

    // A stack that is alone in its group has no name there.
    for (RowGroup& group : chart.groups)
        if (group.rows.size() == 1) group.rows.front().name.clear();
    return chart;
}

std::string drawn(const json& spec) {
    if (!spec.is_object()) throw BadFile("the chart must be an object with a type");
    const std::string type = spec.at("type");
    if (type == "line") return svg_of(line_chart_of(spec));
    if (type == "bar") return svg_of(bar_chart_of(spec));
    throw BadFile("the type is ", type, ", but must be line or bar");
}

// Returns the chart that a JSON text describes, as svg_of does. `file` is the text's name
// in messages. Throws BadFile if the text is not such a description, or cannot be drawn.
std::string draw_chart(const std::string& text, const std::string& file) {
    try {
        return drawn(json::parse(text));
    } catch (const json::exception& error) {
        const std::string what = error.what();  // "[json.exception.NUMBER] MESSAGE"
        throw BadFile(fmt::format("{}: {}; docs/pages/plot.md has the keys", file,
                                  what.substr(what.find(']') + 2)));
    } catch (const Error& error) {
        throw BadFile(fmt::format("{}: {}", file, error.what()));
    }
}

std::string contents_of(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    const io::InputFile file(path);
    std::string text(file.size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

void write_chart(const std::string& spec, const std::string& out) {
    const std::string svg = draw_chart(contents_of(spec), spec == "-" ? "stdin" : spec);
    if (out == "-")
        fmt::print("{}", svg);
    else
        io::write_file(out, svg);
}

// Writes the page that the run writes at the end of each epoch: of a run that was killed
// before, it has the steps of rank 0 so far.
void write_page(const std::string& folder) {
    RunRecord run{.name = run_name(folder), .metrics = read_metrics(folder)};
    const std::string trace = folder + "/trace.json";
    if (std::filesystem::exists(trace)) {
        try {
            run.trace = read_trace(contents_of(trace));
        } catch (const BadFile& error) {
            throw BadFile(trace, ": ", error.what());
        }
    }
    const std::string page = folder + "/report.html";
    io::write_file(page, page_of(run));
    fmt::print("{}\n", page);
}

}  // namespace

void add_commands(Command& mini) {
    Command plot = mini.add_command(
        "plot", "Draws a chart as SVG from its description in JSON (docs/pages/plot.md)");
    const auto spec = std::make_shared<std::string>(),
               out = std::make_shared<std::string>();
    plot.add("SPEC", *spec, "The chart in JSON; -: stdin").required();
    plot.add("--out", *out, "The SVG file to write; -: stdout")
        .type_name("FILE")
        .required();
    plot.on_parsed([spec, out] { write_chart(*spec, *out); });

    Command report = mini.add_command(
        "report", "Writes the page of a run again (docs/pages/run_report.md)");
    const auto folder = std::make_shared<std::string>();
    report.add("RUN", *folder, "The folder of a run: train_mnist --logdir")
        .type_name("DIR")
        .required();
    report.on_parsed([folder] { write_page(*folder); });
}

}  // namespace mini::report
