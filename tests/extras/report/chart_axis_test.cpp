// Axes, and the width of text.

#include "libmini/extras/report/chart_axis.hpp"

#include <limits>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/chart_canvas.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

report::LineChart loss_chart(std::vector<report::ChartPoint> points) {
    return {.text = {.title = "T"},
            .x = {.label = "X"},
            .y = {.label = "Y"},
            .series = {{.name = "loss", .points = std::move(points)}}};
}

}  // namespace

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

TEST_CASE("an axis has at least two ticks, in order, around values of any size") {
    const std::vector<double> values = GENERATE(
        as<std::vector<double>>(), std::vector<double>{0}, std::vector<double>{-7},
        std::vector<double>{1e-310}, std::vector<double>{1e300, -1e300},
        std::vector<double>{1, 1 + 1e-15}, std::vector<double>{3e17, 3e17 + 64});
    for (const bool is_whole : {false, true}) {
        const report::ChartScale scale({.is_whole = is_whole}, values, 0, 100);
        const auto& ticks = scale.ticks();
        REQUIRE(ticks.size() >= 2);
        CHECK(ticks.size() < 20);
        for (size_t i = 1; i < ticks.size(); ++i)
            CHECK(ticks[i - 1].value < ticks[i].value);
        for (const double value : values) {
            CHECK(scale.at(value) >= 0);
            CHECK(scale.at(value) <= 100);
        }
    }
}

TEST_CASE("numbers that are not finite are errors that name the series and the point") {
    const double bad = GENERATE(as<double>(), kNaN, kInfinity, -kInfinity);
    CAPTURE(bad);
    CHECK_THROWS_WITH(report::svg_of(loss_chart({{1, 2}, {2, bad}})),
                      ContainsSubstring("\"loss\" has the point (2, ") &&
                          ContainsSubstring("leave the point out"));
    CHECK_THROWS_AS(report::svg_of(loss_chart({{bad, 2}})), UsageError);
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
