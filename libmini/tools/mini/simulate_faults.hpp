// mini simulate faults: jobs with faults, each made from a seed, in virtual time.
//
//     $ mini simulate faults --seeds 1000000 --jobs 2
//     $ mini simulate faults --seed 7                       # one of them, told rank by rank
//
// Exit code 1, and the story of each, when a job did not end as it must (fault_check.hpp).

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `faults` in `simulate`. REQUIRES: no thread is running when the command line is
/// parsed: jobs are forked.
void add_simulate_faults(Command& simulate);

}  // namespace mini::tools
