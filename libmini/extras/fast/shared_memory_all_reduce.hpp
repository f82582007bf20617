// All-reduce between ranks that can map each other's memory: each rank combines its chunk
// of the data where the data of all ranks are, and messages say where they are and that
// they are ready.
//
//     rank 0   where my data are ->   add rank 1's chunk 1 to mine,        done ->
//     rank 1   <- where mine are      and copy the sum to rank 1           <- done
//                                     (rank 1: the same with chunk 0)
//
// DDP's buckets lie in such memory (shared_blocks.hpp; dist::share_memory puts them there).
// If the data of some rank do not, the backend runs the ring. The order of the operands, and
// so the bits, are those of the ring.
//
// Median time of an all-reduce by 2 ranks, in us (AMD EPYC, 2026-11-29;
// `mini bench allreduce --ranks 2 --sizes 87360,1M,25M --algorithm ALGORITHM`):
//
//     bytes          87,360    1 MiB    25 MiB
//     shared-memory     3.8     22.8     2,410
//     ring              7.6     69.0     5,060

#pragma once

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/transport.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::fast {

/// With more ranks, the messages of each rank to all others take longer than those of the
/// ring.
constexpr int kMaxRanks = 8;

/// The implementation of SharedAllReduce::run, for at most kMaxRanks ranks.
bool shared_memory_all_reduce(dist::GroupTransport& transport, dist::Elements data,
                              dist::ReduceOp op);

/// The implementation of dist::share_memory().
void share_memory(const Tensor& tensor);

}  // namespace mini::fast
