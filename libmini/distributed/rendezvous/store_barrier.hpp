// A barrier on a store, before any connection between ranks exists: a counter shows each rank
// in which round it is and whether it is the last, and the last one sets a key for the others.
//
//     world size 3         add(name, 1)   round   rank
//     first barrier            1, 2, 3     0, 0, 0
//     second barrier           4, 5, 6     1, 1, 1     6 is the last of round 1
//
// Three or four requests a rank; waiting costs none.

#pragma once

#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Blocks until all ranks have called it, each for the same number of times with this name.
/// Throws Timeout naming the barrier and the missing ranks if the deadline passes first; the
/// name then cannot be used again. Adds to the key `name` once and waits once. In each round a
/// rank that comes sets "name/round/rank/its number", and the last one sets another key, for
/// which all wait. These keys are not deleted. Passes on other errors of the store. (Like the
/// store-based barrier at the end of `torch.distributed.init_process_group`.)
void store_barrier(Store& store, const std::string& name, int rank, int world_size,
                   Deadline deadline);

}  // namespace mini::dist
