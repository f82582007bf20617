// mini bench allreduce: the time of an all-reduce, in the columns of nccl-tests.
//
//     size      bytes of one rank's tensor
//     algbw     size / time
//     busbw     algbw * 2(P-1)/P: bytes that each rank sends / time; comparable across
//               world sizes, and with the bandwidth of a link

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `bench` in `mini`; the chosen benchmark runs when the command line has been
/// parsed. REQUIRES: no other thread is running while a benchmark runs, because it forks
/// its ranks.
void add_bench(Command& mini);

}  // namespace mini::tools
