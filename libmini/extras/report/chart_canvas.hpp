// The elements of a chart's SVG file: text, shapes, markers and the legend's swatches.
//
// An element has the colour of the group that it is in: begin_colour() opens a group. The
// style sheet has the colours for light and for dark pages.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libmini/extras/report/chart.hpp"

namespace mini::report {

constexpr double kChartWidth = 780;      ///< of a chart with short texts, in pixels
constexpr double kChartMargin = 22;      ///< around the contents
constexpr double kLeastPlotWidth = 240;  ///< of the part between the axes
constexpr double kTextSize = 13;         ///< of the font of names
constexpr double kSmallSize = 12;        ///< of the font of numbers and labels

/// Returns an upper bound of a text's width in pixels, for the widest usual fonts.
double text_width(std::string_view text, double font_size);

/// Returns the width of the widest text; 0 if there is none.
double widest_of(const std::vector<std::string>& texts, double font_size);

/// Returns the text with <, >, & and quotes replaced, and without control characters.
std::string escaped(std::string_view text);

/// What stands before a name in a legend.
enum class Swatch { kLine, kMarker, kDotted, kDashed, kBar };

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
               const std::string& anchor = "start");

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

    /// Adds the title, and below it rows of names with their swatches; returns the height
    /// below the last row.
    double heading(const ChartText& text, const std::vector<LegendEntry>& legend = {});

    /// Adds the grid lines and texts of a horizontal axis below a plot from `top` to
    /// `bottom`, without texts that would overlap, and the axis's label; returns the
    /// height below them.
    double horizontal_axis(const ChartAxis& axis, const ChartScale& scale, double top,
                           double bottom);

    /// Returns the SVG file. `description` is for readers who do not see the chart.
    std::string svg(const ChartText& text, const std::string& description,
                    double height) const;

  private:
    std::string elements_;
    double width_ = kChartWidth;  // grows with the texts
};

/// Returns the class of a line with this index: dashed if its colour has occurred before.
std::string line_style(size_t index);

/// Returns an element's number as text: "12.3", "-4", never "-0".
std::string pixels(double value);

}  // namespace mini::report
