// mini simulate allreduce: what all-reduces cost on a cluster that this machine only simulates.
//
//     # 1024 ranks, links 100Gbit,10us, seed 0
//     algorithm              size     virtual us     formula us     messages        bytes   wall s
//     ring                1048576       20629.83       20627.83      2095104   2145386496     1.61
//
//     virtual us     until the last rank is done, on the simulated cluster (cluster.hpp)
//     formula us     by the alpha-beta model (all_reduce_time.hpp); "-" where links differ
//     messages       of all ranks together; so are the bytes of their payloads
//     wall s         what the simulation itself took

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `allreduce` in `simulate`; it runs when the command line has been parsed.
void add_simulate_all_reduce(Command& simulate);

}  // namespace mini::tools
