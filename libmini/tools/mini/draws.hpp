// mini random: prints the random numbers that PyTorch draws from a seeded generator.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `random` and its subcommands in `mini`; the chosen subcommand prints to
/// stdout when the command line has been parsed, and throws UsageError for invalid
/// values.
void add_random(Command& mini);

}  // namespace mini::tools
