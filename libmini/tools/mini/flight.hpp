// mini flight: who is missing in which operation, from the flight recorders of all ranks.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `flight` in `mini`; it prints to stdout when the command line has been parsed.
/// Throws BadFile, one line, for a file that is damaged or no box, UsageError when there
/// is none.
void add_flight(Command& mini);

}  // namespace mini::tools
