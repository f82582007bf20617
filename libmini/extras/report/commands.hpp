// The commands of the program mini: `mini report` and `mini plot`.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::report {

/// Declares both commands. `mini report` writes the page of a run, or of two runs side by
/// side, and prints its path. `mini plot` draws a chart as SVG. They throw BadFile if a file
/// cannot be read or written.
void add_commands(Command& mini);

}  // namespace mini::report
