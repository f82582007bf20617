// The lines and the points of charts; chart_bars_test.cpp has bars and timelines.

#include "libmini/extras/report/chart.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using mini::test::contains;

namespace {

report::LineChart chart_of(std::vector<report::ChartPoint> points) {
    return {.text = {.title = "T"},
            .x = {.label = "X"},
            .y = {.label = "Y"},
            .series = {{.name = "one", .points = std::move(points)}}};
}

}  // namespace

TEST_CASE("a chart has its title, both labels, round ticks, and a marker per point") {
    const std::string svg = report::svg_of(chart_of({{0, 0}, {30, 12}}));
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    for (const std::string text : {"T", "X", "Y", "one", "0", "10", "30", "2", "12"})
        CHECK(contains(svg, ">" + text + "</text>"));
    CHECK_FALSE(contains(svg, ">14</text>"));
    CHECK(
        contains(svg, "role=\"img\" aria-labelledby=\"chart-title chart-description\""));
    CHECK(contains(svg, "<title id=\"chart-title\">T</title>"));
    CHECK(contains(svg, ">Y over X: one.</desc>"));
}

TEST_CASE("a logarithmic axis has powers of ten at equal distances") {
    auto chart = chart_of({{1, 1}, {1e3, 2}, {1e6, 3}});
    chart.x.is_log = true;
    const std::string svg = report::svg_of(chart);
    for (const std::string tick : {"1", "10", "100", "1,000", "100,000", "1e6"})
        CHECK(contains(svg, ">" + tick + "</text>"));
    CHECK_FALSE(contains(svg, ">50</text>"));
}

TEST_CASE("an axis may name its ticks, and begin at zero") {
    auto chart = chart_of({{0, 50}, {1, 60}});
    chart.x.ticks = {{0, "none"}, {1, "25 MiB"}};
    chart.y.from_zero = true;
    const std::string svg = report::svg_of(chart);
    CHECK(contains(svg, ">none</text>"));
    CHECK(contains(svg, ">25 MiB</text>"));
    CHECK(contains(svg, ">0</text>"));
    CHECK_FALSE(contains(svg, ">0.2</text>"));
}

TEST_CASE("a logarithmic axis does not include 0, even if it is told to begin there") {
    auto chart = chart_of({{1, 1}, {2, 100}});
    chart.y.is_log = true;
    const std::string without = report::svg_of(chart);
    chart.y.from_zero = true;
    CHECK(report::svg_of(chart) == without);
}
