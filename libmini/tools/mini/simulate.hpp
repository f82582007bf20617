// mini simulate: a cluster that this machine only simulates, in virtual time.
//
//     allreduce    times, messages and bytes of all-reduces     simulate_allreduce.hpp
//     step         steps of DistributedDataParallel             simulate_step.hpp
//     faults       jobs with faults made from seeds             simulate_faults.hpp

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `simulate` in `mini`; it runs when the command line has been parsed. In a build
/// without fibers it throws UsageError with what is missing.
void add_simulate(Command& mini);

}  // namespace mini::tools
