// The elements of a chart's SVG file: text, shapes, markers and the legend's swatches.
//
// An element has the colour of the group that it is in: begin_colour() opens a group. The
// style sheet has the colours for light and for dark pages.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libmini/extras/report/chart.hpp"

namespace mini::report {

constexpr double kChartWidth = 780;  ///< of every chart, in pixels
constexpr double kChartMargin = 22;  ///< around the contents
constexpr double kPlotHeight = 304;  ///< of lines and of vertical bars
constexpr double kTextSize = 13;     ///< of the font of names
constexpr double kSmallSize = 12;    ///< of the font of numbers and labels
constexpr double kLineHeight = 17;   ///< of text in several lines

/// What stands before a name in a legend.
enum class Swatch { kLine, kMarker, kDotted, kDashed, kBar, kMark };

/// A name in a legend. `index` is the number of its colour and marker.
struct LegendEntry {
    std::string name{};
    Swatch swatch = Swatch::kBar;
    size_t index = 0;
};

/// Collects the elements of one SVG file.
class ChartCanvas {
  public:
    /// Adds one line of text. `anchor` is start, middle or end; `style` a class of the
    /// style sheet.
    void words(double x, double y, const std::string& text, const std::string& style,
               const char* anchor = "start");

    /// Adds several lines of text; returns the baseline of the next line.
    double lines(double x, double y, const std::vector<std::string>& lines,
                 const std::string& style, const char* anchor = "start");

    /// Adds a path; `style` has one or more classes of the style sheet.
    void path(const std::string& path, const std::string& style);

    /// Adds a line from `x` to `to_x`.
    void horizontal(double x, double to_x, double y, const std::string& style);

    /// Adds a line from `y` to `to_y`.
    void vertical(double x, double y, double to_y, const std::string& style);

    /// Adds a rectangle, at least one pixel wide and high. A pointer over it shows
    /// `tooltip`.
    void rectangle(double x, double y, double to_x, double to_y,
                   const std::string& tooltip);

    /// Adds a marker, whose shape depends on `index`. Browsers show `tooltip`.
    void marker(double x, double y, size_t index, const std::string& tooltip = "");

    /// Begins or ends elements with the colour of `index`.
    void begin_colour(size_t index);
    void end_colour();

    /// Adds a swatch, 22 pixels wide, with its middle at height `y`.
    void swatch(double x, double y, const LegendEntry& entry);

    /// Adds the title; returns the height at which the next part begins.
    double title(const ChartText& text);

    /// Adds rows of names with their swatches between the margins, beginning at height
    /// `y`; returns the height below the last row.
    double legend(double y, const std::vector<LegendEntry>& entries);

    /// Returns the SVG file; `description` is used if the text has none.
    std::string svg(const ChartText& text, const std::string& description,
                    double height) const;

  private:
    std::string elements_;
};

/// Returns the class of a line with this index: dashed if its colour has occurred before.
std::string line_style(size_t index);

/// Returns an element's number as text: "12.3", "-4", never "-0".
std::string pixels(double value);

/// Adds the grid lines and texts of a horizontal axis below a plot from `top` to
/// `bottom`, without texts that would overlap, and the axis's label; returns the height
/// below them.
double horizontal_axis(ChartCanvas& canvas, const ChartAxis& axis,
                       const ChartScale& scale, double top, double bottom);

/// Returns the widest text of the ticks, in pixels.
double widest_tick(const ChartScale& scale);

}  // namespace mini::report
