// mini flight: finds the ranks that are missing in an operation, from the flight recorder
// boxes of all ranks.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `flight` in `mini`; it prints to stdout when the command line has been
/// parsed. It throws BadFile (one line) if a file is damaged or not a box, and UsageError
/// if there is no box.
void add_flight(Command& mini);

}  // namespace mini::tools
