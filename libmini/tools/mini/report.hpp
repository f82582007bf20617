// mini report: writes the page of a run, or of two runs side by side.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `report` in `mini`. When the command line has been parsed, `report` writes a
/// page and prints its path; it throws BadFile if a run cannot be read or the page cannot
/// be written.
void add_report(Command& mini);

}  // namespace mini::tools
