// mini random: prints the random numbers that PyTorch draws from a seeded generator.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `random` and its subcommands in `mini`. When the command line has been
/// parsed, the chosen subcommand prints to stdout; it throws UsageError for invalid
/// values.
void add_random(Command& mini);

}  // namespace mini::tools
