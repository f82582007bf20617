#include "libmini/io/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "libmini/core/error.hpp"
#include "libmini/io/chart_axis.hpp"

namespace mini::io {
namespace {

// Pixels. The space on the right is for the names of the lines.
constexpr double kWidth = 780, kHeight = 420;
constexpr double kLeft = 66, kRight = 220, kTop = 60, kBottom = 56;
constexpr double kNameGap = 17;

constexpr std::array kColours = {"#1d6fb8", "#c2410c", "#0f8a5f", "#8a4fbf",
                                 "#a16207", "#be185d", "#52606d"};

constexpr const char* kStyle = R"(
  text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933 }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 12px; fill: #52606d }
  .grid { stroke: #cbd2d9; stroke-width: 1 }
  .line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .small { fill: #9aa5b1 } .grid { stroke: #3e4c59 }
    .line, .dot { filter: brightness(1.45) }
  }
)";

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

std::string words(double x, double y, const std::string& text, const char* style,
                  const char* anchor = "start") {
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x,
        y, style, anchor, escaped(text));
}

std::vector<double> all_values(const LineChart& chart, bool of_x) {
    std::vector<double> values;
    for (const ChartLine& line : chart.lines)
        for (const auto& [x, y] : line.points) values.push_back(of_x ? x : y);
    if (values.empty()) throw UsageError("chart: no line has a point");
    return values;
}

// Returns the heights of the names moved apart, to a distance of at least kNameGap: first
// down, and then up if a name is below the chart.
std::vector<double> spread(std::vector<double> heights) {
    std::vector<size_t> order(heights.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return heights[i]; });
    double lowest = -std::numeric_limits<double>::infinity();
    for (const size_t i : order) {
        heights[i] = std::max(heights[i], lowest);
        lowest = heights[i] + kNameGap;
    }
    double highest = kHeight - kBottom;
    for (size_t k = order.size(); k-- > 0;) {
        heights[order[k]] = std::min(heights[order[k]], highest);
        highest = heights[order[k]] - kNameGap;
    }
    return heights;
}

std::string axes(const LineChart& chart, const ChartScale& x, const ChartScale& y) {
    std::string svg = words(kLeft - 44, 24, chart.title, "title");
    svg += words((kLeft + kWidth - kRight) / 2, kHeight - 12, chart.x.label, "small",
                 "middle");
    svg += words(kLeft - 44, kTop - 14, chart.y.label, "small");
    for (const ChartTick& tick : y.ticks()) {
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" class=\"grid\"/>\n", kLeft,
                           y.at(tick.value), kWidth - kRight);
        svg += words(kLeft - 8, y.at(tick.value) + 4, tick.text, "small", "end");
    }
    for (const ChartTick& tick : x.ticks()) {
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}v5\" class=\"grid\"/>\n",
                           x.at(tick.value), kHeight - kBottom);
        svg +=
            words(x.at(tick.value), kHeight - kBottom + 20, tick.text, "small", "middle");
    }
    return svg;
}

std::string line_of(const ChartLine& line, const char* colour, const ChartScale& x,
                    const ChartScale& y) {
    std::string path, dots;
    for (const auto& [px, py] : line.points) {
        path +=
            fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(px), y.at(py));
        dots += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\" class=\"dot\"/>\n",
            x.at(px), y.at(py), colour);
    }
    return fmt::format("<path d=\"{}\" class=\"line\" stroke=\"{}\"/>\n", path, colour) +
           dots;
}

}  // namespace

std::string svg_of(const LineChart& chart) {
    const ChartScale x(chart.x, all_values(chart, true), kLeft, kWidth - kRight);
    const ChartScale y(chart.y, all_values(chart, false), kHeight - kBottom, kTop);
    std::vector<double> ends;
    for (const ChartLine& line : chart.lines)
        ends.push_back(line.points.empty() ? kTop : y.at(line.points.back().second));
    const std::vector<double> heights = spread(ends);

    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n<style>{3}</style>\n",
        kWidth, kHeight, escaped(chart.title), kStyle);
    svg += axes(chart, x, y);
    for (size_t i = 0; i < chart.lines.size(); ++i) {
        const char* const colour = kColours[i % kColours.size()];
        svg += line_of(chart.lines[i], colour, x, y);
        svg += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" class=\"dot\"/>\n",
            kWidth - kRight + 18, heights[i], colour);
        svg += words(kWidth - kRight + 28, heights[i] + 4, chart.lines[i].name, "name");
    }
    return svg + "</svg>\n";
}

}  // namespace mini::io
