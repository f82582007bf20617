// mini indices: prints the sample indices that each rank gets, in the order of any
// sampler or partitioner of libmini.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `indices` and its subcommands in `mini`. When the command line has been
/// parsed, the chosen subcommand prints to stdout; it throws UsageError for invalid
/// values.
void add_indices(Command& mini);

}  // namespace mini::tools
