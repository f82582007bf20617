// mini simulate step: the time of a DistributedDataParallel step on a simulated cluster.
//
//     $ mini simulate step --ranks 256,1024
//     ranks cap MiB buckets compute ms  comm ms exposed ms  step ms efficiency  wall s
//       256      25       5     105.00    41.79       6.65   111.65     94.0 %    0.40
//      1024      25       5     105.00   118.64      48.68   153.68     68.3 %    8.83
//
//     compute ms     forward and backward of the slowest rank
//     comm ms        all-reduces of the buckets, each from its start on the last rank
//     exposed ms     part of the step after compute: communication that is not hidden
//     efficiency     time of a step on one rank / time of this step
//     wall s         real time of the simulation (the next column is the algorithm)
//
// The optimizer's step is not simulated, and communication does not slow down compute.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `step` in `simulate`; the command runs when the command line has been parsed.
void add_simulate_step(Command& simulate);

}  // namespace mini::tools
