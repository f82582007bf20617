// The description of a chart in JSON, which `mini plot` draws. What is in [] is optional.
//
//     {"type": "line" or "scatter", "title": T, ["description": T, "id": T,]
//      "x": AXIS, "y": AXIS, ["references": [{"name": T, "x" or "y": N}, ...],]
//      "series": [{"name": T, "points": [[x, y] or [x, y, low, high], ...],
//                  ["style": "line", "points" or "dotted"]}, ...]}
//     {"type": "bar", ..., "groups": [T, ...], "axis": AXIS,
//      "series": [{"name": T, "values": [N or null, ...], ["stack": T, "texts": [T, ...],
//                  "spreads": [[low, high] or null, ...]]}, ...],
//      ["marks": [{"name": T, "values": [...]}], "base": N, "horizontal": true]}
//     {"type": "timeline", ..., "time": AXIS, ["references": [{"name": T, "value": N}],]
//      "lanes": [{"name": T, "spans": [{"name": T, "start": N, "end": N, ["text": T]}]}]}
//     AXIS  T, or {"label": T, ["log": true, "from_zero": true, "ticks": [N or [N, T]]]}

#pragma once

#include <string>

#include "libmini/extras/report/chart.hpp"

namespace mini::report {

/// Returns the chart that a JSON text describes. `file` is the text's name in messages.
/// Throws BadFile, with the key, its value and what it must be, if the text is not such a
/// description.
Chart parse_chart(const std::string& text, const std::string& file);

}  // namespace mini::report
