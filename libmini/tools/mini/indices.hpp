// mini indices: who gets which sample. Every order that libmini's samplers and
// partitioners make can be looked at without writing a program.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `indices` and its subcommands in `mini`; the one chosen prints to stdout when
/// the command line has been parsed. Throws UsageError for values that make no sense.
void add_indices(Command& mini);

}  // namespace mini::tools
