#include "libmini/extras/report/chart_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mini::report {
namespace {

constexpr double kTitleSize = 17.7;  // 15, and bold letters are wider by 18 %
constexpr double kSwatchWidth = 22, kSwatchGap = 6, kEntryGap = 20, kEntryHeight = 17;

// The width of a character as a multiple of the font size.
double width_of(char letter) {
    const auto is_in = [letter](std::string_view letters) {
        return letters.find(letter) != letters.npos;
    };
    if (is_in("ijlI.,:;'|")) return 0.35;
    if (is_in(" ftr()[]/\\-!")) return 0.42;
    if (is_in("mwMW%@")) return 1.0;
    if (is_in("+=<>~^#&_") || (letter >= 'A' && letter <= 'Z')) return 0.84;
    return 0.65;
}

// A colour on light pages, and on dark pages.
struct Colour {
    const char* light;
    const char* dark;
};

// Any two differ for readers without red or green cones; a test computes by how much.
constexpr std::array kColours = {
    Colour{"#0072b2", "#56b4e9"}, Colour{"#d55e00", "#ff8f52"},
    Colour{"#009e73", "#2fcf9f"}, Colour{"#761c0a", "#c25a3c"},
    Colour{"#7d84ff", "#8f86ff"}, Colour{"#22434f", "#d5dee6"},
    Colour{"#0e36af", "#347479"}, Colour{"#8a929b", "#eded1d"}};

// Around (0, 0), inside a circle of radius 5.
constexpr std::array kMarkers = {
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
    "M-3.2 -3.2h6.4v6.4h-6.4Z",
    "M0 -4.4L4 3.2H-4Z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0Z",
    "M0 4.4L4 -3.2H-4Z",
    "M-1.3 -4.2h2.6v2.9h2.9v2.6h-2.9v2.9h-2.6v-2.9h-2.9v-2.6h2.9Z",
    "M-4.6 -1.6h9.2v3.2h-9.2Z",
    "M-1.6 -4.6h3.2v9.2h-3.2Z"};

constexpr const char* kStyle = R"(
.mini-chart text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
.mini-chart text { fill: #1f2933 }
.mini-chart .title { font-size: 15px; font-weight: 600 }
.mini-chart .small { font-size: 12px; fill: #52606d }
.mini-chart .grid { fill: none; stroke: #cbd2d9 }
.mini-chart .base { fill: none; stroke: #52606d; stroke-width: 1.6 }
.mini-chart .line { fill: none; stroke: currentColor; stroke-width: 2.2 }
.mini-chart .line { stroke-linejoin: round }
.mini-chart .dotted { stroke-dasharray: 1.5 5; stroke-linecap: round }
.mini-chart .dashed { stroke-dasharray: 7 5 }
.mini-chart .dashes1 { stroke-dasharray: 12 3 }
.mini-chart .dashes2 { stroke-dasharray: 12 3 2 3 }
.mini-chart .fill { fill: currentColor }
)";

constexpr const char* kDarkStyle = R"(.mini-chart text { fill: #e4e7eb }
.mini-chart .small { fill: #9aa5b1 }
.mini-chart .grid { stroke: #3e4c59 }
.mini-chart .base { stroke: #9aa5b1 }
)";

std::string style_sheet() {
    std::string light, dark;
    for (size_t i = 0; i < kColours.size(); ++i) {
        light += fmt::format(".mini-chart .c{} {{ color: {} }}\n", i, kColours[i].light);
        dark += fmt::format(".mini-chart .c{} {{ color: {} }}\n", i, kColours[i].dark);
    }
    return fmt::format(
        "<style>{}{}@media (prefers-color-scheme: dark) {{\n{}{}}}\n</style>", kStyle,
        light, kDarkStyle, dark);
}

// Returns the end of an element of this name.
std::string ended(const char* name, const std::string& tooltip) {
    if (tooltip.empty()) return "/>\n";
    return fmt::format("><title>{}</title></{}>\n", escaped(tooltip), name);
}

}  // namespace

double text_width(std::string_view text, double font_size) {
    double width = 0;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte < 0x80) width += width_of(letter);
        if (byte >= 0xC0) width += 1.1;  // the first byte of another character
    }
    return width * font_size;
}

double widest_of(const std::vector<std::string>& texts, double font_size) {
    double widest = 0;
    for (const std::string& text : texts)
        widest = std::max(widest, text_width(text, font_size));
    return widest;
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default:  // XML forbids most control characters
                result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        }
    }
    return result;
}

std::string pixels(double value) {
    const double tenths = std::round(value * 10);
    if (tenths == 0) return "0";
    return fmt::format("{:g}", tenths / 10);
}

std::string line_style(size_t index) {
    const size_t round = index / kColours.size();
    return round == 0 ? "line" : fmt::format("line dashes{}", 2 - round % 2);
}

void ChartCanvas::words(double x, double y, const std::string& text,
                        const std::string& style, const std::string& anchor) {
    const double size = style == "title" ? kTitleSize
                        : style.empty()  ? kTextSize
                                         : kSmallSize;
    const double width = text_width(text, size);
    if (anchor == "middle") x = std::max(x, kChartMargin + width / 2);
    const double end = anchor == "start" ? x + width
                       : anchor == "end" ? x
                                         : x + width / 2;
    width_ = std::max(width_, std::ceil(end + kChartMargin));
    elements_ += fmt::format("<text x=\"{}\" y=\"{}\"", pixels(x), pixels(y));
    if (!style.empty()) elements_ += fmt::format(" class=\"{}\"", style);
    if (anchor != "start") elements_ += fmt::format(" text-anchor=\"{}\"", anchor);
    elements_ += fmt::format(">{}</text>\n", escaped(text));
}

void ChartCanvas::path(const std::string& path, const std::string& style) {
    elements_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", path, style);
}

void ChartCanvas::horizontal(double x, double to_x, double y, const std::string& style) {
    path(fmt::format("M{} {}H{}", pixels(x), pixels(y), pixels(to_x)), style);
}

void ChartCanvas::vertical(double x, double y, double to_y, const std::string& style) {
    path(fmt::format("M{} {}V{}", pixels(x), pixels(y), pixels(to_y)), style);
}

void ChartCanvas::rectangle(double x, double y, double to_x, double to_y,
                            const std::string& tooltip) {
    elements_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"fill\"", pixels(x),
        pixels(y), pixels(std::max(1.0, to_x - x)), pixels(std::max(1.0, to_y - y)));
    elements_ += ended("rect", tooltip);
}

void ChartCanvas::marker(double x, double y, size_t index, const std::string& tooltip) {
    elements_ +=
        fmt::format("<path transform=\"translate({} {})\" d=\"{}\" class=\"fill\"",
                    pixels(x), pixels(y), kMarkers[index % kMarkers.size()]);
    elements_ += ended("path", tooltip);
}

void ChartCanvas::begin_colour(size_t index) {
    elements_ += fmt::format("<g class=\"c{}\">\n", index % kColours.size());
}

void ChartCanvas::end_colour() { elements_ += "</g>\n"; }

void ChartCanvas::swatch(double x, double y, const LegendEntry& entry) {
    begin_colour(entry.index);
    const double end = x + kSwatchWidth, middle = x + kSwatchWidth / 2;
    switch (entry.swatch) {
        case Swatch::kLine:
            horizontal(x, end, y, line_style(entry.index));
            marker(middle, y, entry.index);
            break;
        case Swatch::kMarker: marker(middle, y, entry.index); break;
        case Swatch::kDotted: horizontal(x, end, y, "line dotted"); break;
        case Swatch::kDashed: horizontal(x, end, y, "line dashed"); break;
        case Swatch::kBar: rectangle(x + 5, y - 6, x + 17, y + 6, ""); break;
    }
    end_colour();
}

double ChartCanvas::heading(const ChartText& text,
                            const std::vector<LegendEntry>& legend) {
    words(kChartMargin, kChartMargin + 2, text.title, "title");
    double x = kChartMargin, y = kChartMargin + 16;
    for (const LegendEntry& entry : legend) {
        const double width =
            kSwatchWidth + kSwatchGap + text_width(entry.name, kSmallSize);
        if (x > kChartMargin && x + width > kChartWidth - kChartMargin) {
            x = kChartMargin;
            y += kEntryHeight;
        }
        swatch(x, y + 8, entry);
        words(x + kSwatchWidth + kSwatchGap, y + 12, entry.name, "small");
        x += width + kEntryGap;
    }
    return legend.empty() ? y : y + kEntryHeight;
}

double ChartCanvas::horizontal_axis(const ChartAxis& axis, const ChartScale& scale,
                                    double top, double bottom) {
    double free_from = 0;  // the end of the last text
    for (const ChartTick& tick : scale.ticks()) {
        const double x = scale.at(tick.value);
        const double half = text_width(tick.text, kSmallSize) / 2;
        vertical(x, top, bottom + 5, "grid");
        if (x - half < free_from) continue;
        words(x, bottom + 20, tick.text, "small", "middle");
        free_from = x + half + 6;
    }
    const double middle = (scale.at(scale.low()) + scale.at(scale.high())) / 2;
    words(middle, bottom + 42, axis.label, "small", "middle");
    return bottom + 52;
}

std::string ChartCanvas::svg(const ChartText& text, const std::string& description,
                             double height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mini-chart\" viewBox=\"0 0 "
        "{0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "aria-labelledby=\"{2}-title {2}-description\">\n<title "
        "id=\"{2}-title\">{3}</title>\n<desc "
        "id=\"{2}-description\">{4}</desc>\n{5}\n{6}</svg>\n",
        width_, std::ceil(height), escaped(text.id), escaped(text.title),
        escaped(description), style_sheet(), elements_);
}

}  // namespace mini::report
