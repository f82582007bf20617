// mini simulate step: what a step of DistributedDataParallel costs on a simulated cluster.
//
//     # mini simulate step --ranks 256,1024
//      ranks  cap MiB  buckets  compute ms   comm ms  exposed ms   step ms  efficiency   wall s
//        256       25        5      105.00     41.79        6.65    111.65      94.0 %     0.40
//       1024       25        5      105.00    118.64       48.68    153.68      68.3 %     8.83
//
//     compute ms     forward and backward of the slowest rank
//     comm ms        the buckets' all-reduces, without the time that ranks wait for slower ones
//     exposed ms     what is left of the step after compute: communication that is not hidden
//     efficiency     the step of one rank alone / this step
//     wall s         what the simulation itself took; the algorithm comes after it
//
// The optimizer's step is left out, and communication does not slow compute down.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `step` in `simulate`; it runs when the command line has been parsed.
void add_simulate_step(Command& simulate);

}  // namespace mini::tools
