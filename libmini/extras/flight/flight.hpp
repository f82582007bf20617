// The flight recorder of every group, and what minirun and mini read in its boxes.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::flight {

/// Records the operations of all later groups (flight_recorder.hpp), and lets minirun read
/// the boxes of ranks that have ended (rank_records.hpp). Call it in main.
void use();

/// Declares `flight` in `mini`: it reads the boxes of all ranks, and finds the ranks that are
/// missing in an operation. When the command line has been parsed, `flight` prints to
/// stdout; it throws BadFile (one line) if a file is damaged or is not a box, and UsageError
/// if there is no box.
void add_flight(Command& mini);

}  // namespace mini::flight
