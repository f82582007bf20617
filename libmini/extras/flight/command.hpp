// mini flight: reads the flight recorder boxes of all ranks, and finds the ranks that are
// missing in an operation.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `flight` in `mini`. When the command line has been parsed, `flight` prints to
/// stdout; it throws BadFile (one line) if a file is damaged or is not a box, and
/// UsageError if there is no box.
void add_flight(Command& mini);

}  // namespace mini::tools
