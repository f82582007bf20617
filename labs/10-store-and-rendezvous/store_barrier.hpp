// A barrier on a store, for ranks that have no connections to each other yet. A counter
// in the store tells each rank which round it is in and whether it is the last rank of
// the round. The last rank sets a key for which all ranks wait.
//
//     world size 3      add(name, 1) returns    round      last rank of the round
//     first barrier     1, 2, 3                 0          the rank that gets 3
//     second barrier    4, 5, 6                 1          the rank that gets 6
//
// Three requests per rank, and a fourth by the last rank.

#pragma once

#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Blocks until all ranks have called store_barrier with this name as many times as this
/// rank has. Throws Timeout naming the barrier and the missing ranks if the deadline
/// passes first; after that, the name cannot be used again. Passes on other errors of the
/// store. Calls add() once, on the key `name`, and wait() once. In each round every rank
/// sets the key "name/ROUND/rank/RANK", and the last rank sets another key, for which all
/// ranks wait. These keys are not deleted. (Like the store-based barrier at the end of
/// `torch.distributed.init_process_group`.)
void store_barrier(Store& store, const std::string& name, int rank, int world_size,
                   Deadline deadline);

}  // namespace mini::dist
