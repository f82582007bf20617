// mini simulate: runs a simulated cluster in virtual time.
//
//     allreduce    times, messages and bytes of all-reduces     simulate_allreduce.hpp
//     messages     every message of one all-reduce              simulate_messages.hpp
//     buckets      the buckets of a model and their timeline    simulate_buckets.hpp
//     step         steps of DistributedDataParallel             simulate_step.hpp
//     faults       jobs with random faults                      simulate_faults.hpp

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `simulate` in `mini`; the command runs when the command line has been parsed.
/// In a build without fibers, the command throws UsageError, which names the missing
/// library.
void add_simulate(Command& mini);

}  // namespace mini::tools
