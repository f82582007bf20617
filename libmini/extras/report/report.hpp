// The extra report: records of runs, and the commands `mini plot` and `mini report`.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::report {

/// Lets --logdir record runs with RunLog (run_log.hpp).
void use();

/// Declares the commands: plot draws a chart as SVG, report writes the page of a run from
/// its folder. They throw BadFile if a file cannot be read or written, or is invalid.
void add_commands(Command& mini);

}  // namespace mini::report
