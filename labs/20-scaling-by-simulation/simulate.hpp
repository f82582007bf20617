// simulate: collectives and training steps on a simulated cluster, in virtual time.
//
//     simulate allreduce     times, messages and bytes of all-reduces
//     simulate messages      every message of one all-reduce
//     simulate step          steps of DistributedDataParallel
//     simulate buckets       the buckets of a model and their timeline, by formula
//
// The head of each source explains its tables.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::lab20 {

/// Declare the commands; each runs when the command line has been parsed.
void add_all_reduce(Command& simulate);
void add_messages(Command& simulate);
void add_step(Command& simulate);
void add_buckets(Command& simulate);

}  // namespace mini::lab20
