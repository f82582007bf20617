// mini simulate faults: runs jobs with faults in virtual time; each seed gives one job.
//
//     $ mini simulate faults --seeds 1000000 --jobs 2   # jobs 0 to 999999
//     $ mini simulate faults --seed 7                   # job 7; prints each rank's end
//
// If a job does not end as required (fault_check.hpp), prints the ends of its ranks, and
// ends with exit code 1.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `faults` in `simulate`; the command runs when the command line has been
/// parsed. REQUIRES: no other thread is running then, because --jobs forks processes.
void add_simulate_faults(Command& simulate);

}  // namespace mini::tools
