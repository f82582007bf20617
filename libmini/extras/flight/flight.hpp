// The flight recorder of every group, and what minirun and mini read in its dumps.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::flight {

/// Records the operations of all later groups (flight_recorder.hpp), and lets minirun
/// read the dumps of ranks that have ended (rank_records.hpp). Call it in main.
void use();

/// Declares `flight` in `mini`: it reads the dumps of all ranks, and finds the ranks that
/// are missing in an operation. When the command line has been parsed, `flight` prints to
/// stdout; it throws BadFile (one line) if a file is damaged or is not a dump, and
/// UsageError if there is no dump.
void add_flight(Command& mini);

}  // namespace mini::flight
