// Text of an SVG file: its width, lines that fit into a width, and XML.
//
// The width of a letter depends on the reader's font. text_width() returns an upper bound
// for the fonts of the charts' style; DejaVu Sans has the widest letters of them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mini::report {

/// Returns an upper bound of the width of a text, in pixels. REQUIRES: UTF-8 without
/// line breaks.
double text_width(std::string_view text, double font_size);

/// Returns the text divided into lines of at most `width` pixels, at spaces if possible;
/// a line has at least one letter. Returns no line for an empty text.
std::vector<std::string> wrapped(std::string_view text, double width, double font_size);

/// Returns the text as XML: escaped, with spaces for line breaks, and with U+FFFD for
/// bytes that are no UTF-8 and for characters that XML forbids.
std::string escaped(std::string_view text);

/// Returns a number with at most four digits, for messages and descriptions: "1.234e+05".
std::string short_number(double value);

}  // namespace mini::report
