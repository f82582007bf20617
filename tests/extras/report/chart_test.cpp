#include "libmini/extras/report/chart.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart_axis.hpp"
#include "libmini/extras/report/chart_canvas.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using Catch::Matchers::ContainsSubstring;
using mini::test::contains;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

report::LineChart chart_of(std::vector<report::ChartPoint> points) {
    return {.text = {.title = "T"},
            .x = {.label = "X"},
            .y = {.label = "Y"},
            .series = {{.name = "one", .points = std::move(points)}}};
}

size_t count(const std::string& svg, const std::string& part) {
    size_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1))
        ++found;
    return found;
}

report::RowChart one_lane() {
    return {.text = {.title = "T"},
            .axis = {.label = "ms"},
            .groups = {{"rank 0", {{.spans = {{"forward", 0, 2}, {"backward", 2, 6}}}}}}};
}

}  // namespace

TEST_CASE("a timeline has a rectangle per span and one per name of its legend") {
    const std::string svg = report::svg_of(one_lane());
    CHECK(count(svg, "<rect") == 2 + 2);
    CHECK(contains(svg, "<title>backward: 2 to 6 ms (4)</title>"));
    CHECK(contains(svg, "ms of rank 0.</desc>"));
}

TEST_CASE("a span without length is a marker, and rows are below each other") {
    report::RowChart chart = one_lane();
    chart.groups[0].rows = {{.spans = {{"a", 0, 4}}}, {.spans = {{"now", 3, 3}}}};
    const std::string svg = report::svg_of(chart);
    CHECK(count(svg, "<rect") == 1 + 2);
    CHECK(contains(svg, "<title>now: at 3 ms</title>"));
    const auto number_before = [&](const std::string& start, const std::string& tip) {
        return std::stod(svg.substr(svg.rfind(start, svg.find(tip)) + start.size()));
    };
    const double y = number_before(" y=\"", "<title>a:");
    const double height = number_before(" height=\"", "<title>a:");
    const size_t marker = svg.rfind("translate(", svg.find("<title>now:"));
    CHECK(std::stod(svg.substr(svg.find(' ', marker))) > y + height);
}

// ---- axes, and the width of text

TEST_CASE("an axis maps its lowest tick to its start and its highest to its end") {
    const report::ChartScale linear({}, {1, 11}, 100, 200);
    CHECK(linear.at(0) == 100);
    CHECK(linear.at(6) == 150);
    CHECK(linear.at(12) == 200);
    const report::ChartScale log({.is_log = true}, {1, 1e6}, 200, 100);  // upwards
    CHECK(log.at(1) == 200);
    CHECK(log.at(1e3) == Approx(150));
    CHECK(log.at(1e6) == 100);
}

TEST_CASE("numbers that are not finite are errors that name the axis") {
    const double bad = GENERATE(as<double>(), kNaN, kInfinity, -kInfinity);
    CAPTURE(bad);
    CHECK_THROWS_WITH(
        report::svg_of(chart_of({{1, 2}, {2, bad}})),
        ContainsSubstring("\"Y\" is ") && ContainsSubstring("leave the value out"));
    CHECK_THROWS_AS(report::svg_of(chart_of({{bad, 2}})), UsageError);
    report::RowChart times{.groups = {{"rank 0", {{.spans = {{"a", 0, bad}}}}}}};
    CHECK_THROWS_AS(report::svg_of(times), UsageError);
}

TEST_CASE("a number of a tick has the digits of the ticks' distance") {
    CHECK(report::number_text(0, 1) == "0");
    CHECK(report::number_text(0.5, 0.1) == "0.5");
    CHECK(report::number_text(2, 0.5) == "2");
    CHECK(report::number_text(-1234.5, 0.5) == "-1,234.5");
    CHECK(report::number_text(-100, 100) == "-100");
    CHECK(report::number_text(60000, 20000) == "60,000");
    CHECK(report::number_text(1.5e9, 5e8) == "1.5e9");
    CHECK(report::number_text(1000000.5, 0.5) == "1,000,000.5");
    CHECK(report::number_text(-2.5e-7, 5e-8) == "-2.5e-7");
    CHECK(report::number_text(1e-20, 1e-20) == "1e-20");
}

TEST_CASE("a letter of several bytes has one width, and control characters are spaces") {
    CHECK(report::text_width("\u00e9", 10) == report::text_width("\u4e2d", 10));
    CHECK(report::text_width("ww", 10) == 2 * report::text_width("w", 10));
    CHECK(report::escaped("a\nb\tc\x01") == "a b c ");
    CHECK(report::escaped("\U0001F600") == "\U0001F600");
}
