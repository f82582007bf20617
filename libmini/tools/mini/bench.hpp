// mini bench allreduce: how long an all-reduce takes, in the columns of nccl-tests.
//
//     size      bytes of one rank's tensor
//     algbw     size / time
//     busbw     algbw * 2(P-1)/P: what each rank sends, so that figures of different
//               world sizes, and of a wire, can be compared

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `bench` in `mini`; what is asked for is measured when the command line has
/// been parsed. REQUIRES: no thread is running then: ranks are forked.
void add_bench(Command& mini);

}  // namespace mini::tools
