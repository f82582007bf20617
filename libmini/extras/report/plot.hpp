// The command of the program mini: `mini plot`.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::report {

/// Declares the command, which draws a chart as SVG. It throws BadFile if a file cannot be
/// read or written, or if the chart's description is wrong.
void add_plot(Command& mini);

}  // namespace mini::report
