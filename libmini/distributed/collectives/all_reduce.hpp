// The all-reduce algorithms. Each is explained in the file of its name; all_reduce_time.hpp
// has the time of each.

#pragma once

#include <vector>

#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

// Each function reduces `data` over all ranks and leaves the result in `data` on every rank;
// blocks until done. The results are bitwise identical on all ranks. Calls prepare_reduce
// (reduce.hpp) before the first message, and finish_reduce once for each element, where all
// ranks' data of it is combined, before it is sent on: the caller calls neither. REQUIRES:
// the same size, dtype and op on every rank. If `transport` is a GroupTransport, its begin()
// was called for this collective (a process group does so).

/// All buffers go to rank 0, which sends the result back.
void naive_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// Few messages of the whole buffer: for small buffers.
void tree_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// The fewest bytes: for large buffers.
void ring_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// The fewest rounds: for small buffers.
void recursive_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// The bytes of the ring in fewer messages: for many ranks.
void halving_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op);

/// For hosts with several ranks each. `hosts`: the host number of each rank, by rank.
void hierarchical_all_reduce(Transport& transport, Elements data, ReduceOp op,
                             const std::vector<int>& hosts);

}  // namespace mini::dist
