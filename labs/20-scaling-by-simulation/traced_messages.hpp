// Every message of one all-reduce, and whose numbers it sums.
//
// The algorithm of collectives/ runs on the simulated cluster, on links whose delay is
// the same for all messages: messages that arrive at the same time are one step. Rank r
// contributes 2^r to every element, so that the bits of a sum say which ranks are in it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"

namespace mini::lab20 {

/// A message of an all-reduce, and what its receiver has afterwards.
struct TracedMessage {
    int step = 0;  // from 1
    int from = 0, to = 0;
    size_t first = 0;            // the first element
    bool combines = false;       // whether the receiver adds the elements, or overwrites
    std::vector<uint32_t> sums;  // per element: bit r is set if rank r's number is in it
};

constexpr int kMaxTracedRanks = 16;  // their sums are exact in float32

/// Returns the messages of one all-reduce of `elements` numbers per rank, ordered by
/// step, then by receiver, then in the order in which it received them. Throws Error for
/// an algorithm that receives into other memory than its buffer. REQUIRES: 1 <=
/// world_size <= kMaxTracedRanks.
std::vector<TracedMessage> trace_all_reduce(dist::Algorithm algorithm, int world_size,
                                            size_t elements);

}  // namespace mini::lab20
