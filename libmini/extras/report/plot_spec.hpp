// The description of a chart in JSON, which `mini plot` draws. What is in [] is optional.
//
//     {"type": "line", "title": T, "x": AXIS, "y": AXIS,
//      "series": [{"name": T, "points": [[x, y], ...], ["style": "points" or "dotted"]}],
//      ["references": [{"name": T, "y": N}, ...]]}
//     {"type": "bar", "title": T, "groups": [T, ...], "axis": AXIS,
//      "series": [{"name": T, "values": [N or null, ...], ["stack": T, "texts": [T, ...]]}],
//      ["references": [{"name": T, "value": N}, ...]]}
//     AXIS  T, or {"label": T, ["log": true, "from_zero": true, "ticks": [N or [N, T]]]}

#pragma once

#include <string>

namespace mini::report {

/// Returns the chart that a JSON text describes, as svg_of does. `file` is the text's name
/// in messages. Throws BadFile if the text is not such a description, or cannot be drawn.
std::string draw_chart(const std::string& text, const std::string& file);

}  // namespace mini::report
