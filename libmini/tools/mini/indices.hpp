// mini indices: prints the sample indices that each rank gets. It shows the order of
// every sampler and partitioner of libmini without writing a program.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `indices` and its subcommands in `mini`; the chosen subcommand prints to
/// stdout when the command line has been parsed, and throws UsageError for invalid
/// values.
void add_indices(Command& mini);

}  // namespace mini::tools
