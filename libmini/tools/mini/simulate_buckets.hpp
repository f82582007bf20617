// mini simulate buckets: the buckets of a model, and when each of them is all-reduced.
//
//     $ mini simulate buckets --model resnet18 --backward-ms 30 --link 25Gbit,20us
//     bucket  gradients       bytes  ready ms  begin ms  end ms  last gradient
//          0          2   2,052,000      0.01      0.01    1.44  fc.weight
//          1         12  28,852,224      5.84      5.84   22.27  layer4.0.conv2.weight
//          2         48  15,853,824     30.00     30.00   39.16  conv1.weight
//
//     ready ms       the last gradient is ready; times since the end of forward
//     begin, end     of the bucket's all-reduce, by formula (all_reduce_on_links.hpp)
//
// The view of one rank, with all ranks alike, as bucket_timeline.hpp predicts it: a table
// takes milliseconds. mini simulate step simulates the messages of all ranks.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `buckets` in `simulate`; the command runs when the command line has been
/// parsed.
void add_simulate_buckets(Command& simulate);

}  // namespace mini::tools
