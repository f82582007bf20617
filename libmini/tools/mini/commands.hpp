// The commands of mini. When the command line has been parsed, the chosen
// command prints to stdout; it throws UsageError for invalid values, BadFile for a damaged
// file. The head of each source shows its output.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `indices` and its subcommands in `mini`.
void add_indices(Command& mini);

/// Declares `bench` in `mini`. REQUIRES: no other thread is running while a benchmark runs,
/// because it forks its ranks.
void add_bench(Command& mini);

/// Declares `inspect` in `mini`.
void add_inspect(Command& mini);

/// Declares `predict` in `mini`, which prints a line and a drawing for each picture, or with
/// --json one object per line. Reads PNG and JPEG (see ImageMode::kGreyOverWhite and
/// as_mnist). A model that is not a ConvNet is a UsageError.
void add_predict(Command& mini);

/// Declares the commands of all extras of this build, such as `flight`. CMake generates the
/// source: an extra lists its function with mini_commands() (libmini/cmake/MiniExtras.cmake).
void add_extra_commands(Command& mini);

}  // namespace mini::tools
