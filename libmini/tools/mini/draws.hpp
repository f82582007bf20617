// mini random: the numbers that a seeded generator draws, as PyTorch's would.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `random` and its subcommands in `mini`; the one chosen prints to stdout when
/// the command line has been parsed. Throws UsageError for values that make no sense.
void add_random(Command& mini);

}  // namespace mini::tools
