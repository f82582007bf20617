// Bars and timelines.

#include <optional>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using Catch::Matchers::ContainsSubstring;
using mini::test::contains;

namespace {

size_t count(const std::string& svg, const std::string& part) {
    size_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1))
        ++found;
    return found;
}

report::BarChart two_groups() {
    return {.text = {.title = "T"},
            .groups = {"a", "b"},
            .axis = {.label = "ms"},
            .series = {{.name = "first", .values = {1, 2}},
                       {.name = "second", .values = {3, std::nullopt}}}};
}

report::Timeline one_lane() {
    return {
        .text = {.title = "T"},
        .lanes = {{.name = "rank 0", .spans = {{"forward", 0, 2}, {"backward", 2, 6}}}}};
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
    CHECK(contains(svg, "ms: rank 0.</desc>"));
}

TEST_CASE("a span that ends before it starts is an error with both times") {
    report::Timeline chart = one_lane();
    chart.lanes[0].spans[0].start = 3;
    CHECK_THROWS_WITH(
        report::svg_of(chart),
        ContainsSubstring("\"forward\" of rank 0 starts at 3 and ends at 2"));
}

TEST_CASE("a span without length is a marker below the others") {
    report::Timeline chart = one_lane();
    chart.lanes[0].spans = {{"a", 0, 4}, {"now", 3, 3}};
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
