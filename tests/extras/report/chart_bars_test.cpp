// Bars and timelines.

#include <string>

#include "libmini/extras/report/chart.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using mini::test::contains;

namespace {

size_t count(const std::string& svg, const std::string& part) {
    size_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1))
        ++found;
    return found;
}

report::RowChart two_groups() {
    return {.text = {.title = "T"},
            .axis = {.label = "ms"},
            .groups = {{"a", {{"", {{"first", 0, 1}}}, {"", {{"second", 0, 3}}}}},
                       {"b", {{"", {{"first", 0, 2}}}}}}};
}

report::RowChart one_lane() {
    return {.text = {.title = "T"},
            .axis = {.label = "ms"},
            .groups = {{"rank 0", {{.spans = {{"forward", 0, 2}, {"backward", 2, 6}}}}}}};
}

}  // namespace

TEST_CASE("a bar chart has a rectangle per value and one per name of its legend") {
    const std::string svg = report::svg_of(two_groups());
    CHECK(count(svg, "<rect") == 3 + 2);
    for (const std::string text : {"a", "b", "first", "second", "ms", "0", "3"})
        CHECK(contains(svg, ">" + text + "</text>"));
    CHECK(contains(svg, "ms of a, b.</desc>"));
}

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
