// mini simulate allreduce: the time and traffic of all-reduces on a simulated cluster.
//
//     # 1024 ranks, links 100Gbit,10us, seed 0
//     algorithm           size    virtual us    formula us   messages       bytes  wall s
//     ring             1048576      20629.83      20627.83    2095104  2145386496    1.61
//
//     virtual us     virtual time until the last rank is done (cluster.hpp)
//     formula us     time by the alpha-beta model (all_reduce_time.hpp); "-" if the model
//                    does not apply (simulated_all_reduce.hpp)
//     messages       of all ranks together
//     bytes          payload of these messages
//     wall s         real time of the simulation

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `allreduce` in `simulate`; the command runs when the command line has been
/// parsed.
void add_simulate_all_reduce(Command& simulate);

}  // namespace mini::tools
