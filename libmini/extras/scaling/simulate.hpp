// mini simulate: runs a simulated cluster in virtual time. The head of each source explains
// its output.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::scaling {

/// Declares `simulate` in `mini`; the commands run when the command line has been parsed.
void add_simulate(Command& mini);

/// Declare the commands of `simulate`: the times, messages and bytes of all-reduces; every
/// message of one all-reduce; the buckets of a model and their timeline; and steps of
/// DistributedDataParallel.
void add_simulate_all_reduce(Command& simulate);
void add_simulate_messages(Command& simulate);
void add_simulate_buckets(Command& simulate);
void add_simulate_step(Command& simulate);

}  // namespace mini::scaling
