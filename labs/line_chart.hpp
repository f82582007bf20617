// A line chart as an SVG that reads well on light and on dark ground: what the labs'
// measurements draw.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::labs {

struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;  // (x, y), x ascending
};

struct LineChart {
    std::string title, x_name, y_name;
    std::vector<Series> series;       // up to four
    double y_min = 0.0, y_max = 0.0;  // equal: chosen to fit
};

namespace detail {

constexpr double kWidth = 720, kHeight = 380, kLeft = 74, kRight = 20, kTop = 74,
                 kBottom = 56;

constexpr const char* kChartStyle = R"(
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
         fill: #1f2933 }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 12px; fill: #52606d }
  .grid { stroke: #d5dbe1; stroke-width: 1 }
  .line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  .s0 { stroke: #1d6fb8 } .s1 { stroke: #c2410c } .s2 { stroke: #2f855a }
  .s3 { stroke: #8553b5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .small { fill: #9aa5b1 } .grid { stroke: #3e4c59 }
    .s0 { stroke: #4da3ec } .s1 { stroke: #f0803c } .s2 { stroke: #52b788 }
    .s3 { stroke: #b38ae0 }
  }
)";

// 1, 2 or 5 times a power of ten, so that `range` has four to ten steps of it.
inline double step_for(double range) {
    const double power = std::pow(10, std::floor(std::log10(range / 4)));
    for (const double factor : {5.0, 2.0})
        if (range / (factor * power) >= 4) return factor * power;
    return power;
}

// The range of one coordinate, and how it lies on the paper.
struct Axis {
    double low, high, from, to;
    double at(double value) const {
        return from + (value - low) / (high - low) * (to - from);
    }
};

inline Axis fit(double low, double high, double from, double to) {
    return {.low = low, .high = high > low ? high : low + 1, .from = from, .to = to};
}

inline std::string text(double x, double y, const std::string& words,
                        const char* attributes) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                       words);
}

inline std::string grid(const Axis& x, const Axis& y) {
    std::string svg;
    const double step_y = step_for(y.high - y.low), step_x = step_for(x.high - x.low);
    for (double v = std::ceil(y.low / step_y) * step_y; v <= y.high + 1e-9; v += step_y) {
        svg += fmt::format("<path d=\"M {:.1f} {:.1f} H {:.1f}\" class=\"grid\"/>\n",
                           x.from, y.at(v), x.to);
        svg += text(x.from - 8, y.at(v) + 4, fmt::format("{:g}", v),
                    "text-anchor=\"end\" class=\"small\"");
    }
    for (double v = std::ceil(x.low / step_x) * step_x; v <= x.high + 1e-9; v += step_x)
        svg += text(x.at(v), y.from + 18, fmt::format("{:g}", v),
                    "text-anchor=\"middle\" class=\"small\"");
    return svg;
}

inline std::string lines(const LineChart& chart, const Axis& x, const Axis& y) {
    std::string svg;
    double legend = kLeft;
    for (size_t k = 0; k < chart.series.size(); ++k) {
        const Series& series = chart.series[k];
        std::string path;
        for (const auto& [px, py] : series.points)
            path += fmt::format("{}{:.1f} {:.1f} ", path.empty() ? "M " : "L ", x.at(px),
                                y.at(py));
        svg += fmt::format("<path d=\"{}\" class=\"line s{}\"/>\n", path, k);
        svg +=
            fmt::format("<path d=\"M {:.1f} 48 h 22\" class=\"line s{}\"/>\n", legend, k);
        svg += text(legend + 28, 52, series.name, "class=\"small\"");
        legend += 56 + 6.9 * static_cast<double>(series.name.size());
    }
    return svg;
}

}  // namespace detail

/// The chart as the text of an SVG file. REQUIRES: at least one point.
inline std::string to_svg(const LineChart& chart) {
    using namespace detail;
    std::pair<double, double> low = chart.series.at(0).points.at(0), high = low;
    for (const Series& series : chart.series)
        for (const auto& [x, y] : series.points) {
            low = {std::min(low.first, x), std::min(low.second, y)};
            high = {std::max(high.first, x), std::max(high.second, y)};
        }
    if (chart.y_max > chart.y_min) {
        low.second = chart.y_min;
        high.second = chart.y_max;
    }
    const Axis x = fit(low.first, high.first, kLeft, kWidth - kRight);
    const Axis y = fit(low.second, high.second, kHeight - kBottom, kTop);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
        "height=\"{}\" role=\"img\" aria-label=\"{}\">\n<style>{}</style>\n",
        kWidth, kHeight, kWidth, kHeight, chart.title, kChartStyle);
    svg += text(kLeft, 26, chart.title, "class=\"title\"");
    svg += grid(x, y) + lines(chart, x, y);
    svg +=
        text((x.from + x.to) / 2, kHeight - 14, chart.x_name, "text-anchor=\"middle\"");
    const std::string turned =
        fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1f})\"",
                    (y.from + y.to) / 2);
    svg += text(18, (y.from + y.to) / 2, chart.y_name, turned.c_str());
    return svg + "</svg>\n";
}

/// Writes the chart to a file. Throws BadFile naming it when that fails.
inline void write_svg(const LineChart& chart, const std::string& path) {
    std::ofstream file(path);
    file << to_svg(chart) << std::flush;
    if (!file) throw BadFile(concat(path, " cannot be written"));
}

}  // namespace mini::labs
