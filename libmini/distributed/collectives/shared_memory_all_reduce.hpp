// All-reduce between ranks that share memory: the ranks combine the data in this memory.
//
// A large buffer is cut into P chunks, one for each rank to finish, and the chunks into
// slices that fit in a slot (slot_queue.hpp). Two ranks, slice after slice:
//
//     rank 0   copy slice of chunk 0 to a slot         read the finished slice
//                                  \                  /
//     rank 1                        add it to its own, and copy the sum to the slot
//
// Rank 1 does the same with chunk 1, and both fill the next slots before they wait, so
// that they work at the same time. The data of a slice are read and written in the main
// memory once; all other accesses find them in a cache. Each rank sends and returns
// 2(P-1)/P of the buffer, like the ring, but waits for 2 other ranks and not for 2(P-1)
// messages. A buffer of up to 16 KiB is not cut: each rank copies it to P-1 slots, and
// combines all P buffers itself.
//
// The order of the operands is that of ring_all_reduce for a large buffer, and that of
// recursive_doubling_all_reduce for a small one, so the results have the same bits.

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
