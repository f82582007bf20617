// mini simulate step: what a step of DistributedDataParallel costs on a simulated cluster.
//
//      ranks  cap MiB  buckets  compute ms   comm ms  exposed ms   step ms  efficiency   wall s  algorithm
//         64       25        6      105.00     25.87        6.20    111.20      94.4 %     0.06  ring
//
//     compute ms     forward and backward of the slowest rank
//     comm ms        the buckets' all-reduces, without the time that ranks wait for slower ones
//     exposed ms     what is left of the step after compute: communication that is not hidden
//     efficiency     the step of one rank alone / this step
//     wall s         what the simulation itself took
//
// The optimizer's step is left out, and communication does not slow compute down.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `step` in `simulate`; it runs when the command line has been parsed.
void add_simulate_step(Command& simulate);

}  // namespace mini::tools
