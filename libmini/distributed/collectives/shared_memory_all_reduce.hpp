// All-reduce between ranks that share memory: the ranks combine the data in this memory.
//
// A large buffer is cut into P chunks, one for each rank to finish. If the buffers of all
// ranks are in their heaps (shared_heap.hpp), as the buckets of DDP are, each rank reads
// its chunk in all of them and writes the result to all. Otherwise chunks are cut into
// slices that fit in a slot (slot_queue.hpp). For two ranks, each slice goes through
// these steps:
//
//     rank 0   copy slice of chunk 0 to a slot         read the finished slice
//     rank 1                        add it to its own, and copy the sum to the slot
//
// A buffer of up to 16 KiB is not cut: each rank combines all P buffers itself. The order
// of the operands, and so the bits, are those of ring_all_reduce for a large buffer, and
// of recursive_doubling_all_reduce for a small one.

#pragma once

#include <cstddef>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/slot_transport.hpp"

namespace mini::dist {

/// Up to this size in bytes every rank combines all buffers.
constexpr size_t kSmallSharedBytes = 16 << 10;

/// Same contract as ring_all_reduce.
void shared_memory_all_reduce(SlotTransport& slots, Elements data, ReduceOp op);

}  // namespace mini::dist
