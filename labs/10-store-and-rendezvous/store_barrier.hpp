// A barrier on a store, for ranks that have no connections to each other yet: three
// requests per rank, and a fourth by one of them.

#pragma once

#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Blocks until all ranks have called store_barrier with this name as many times as this
/// rank has. Throws Timeout if the deadline passes first; its message has the name of the
/// barrier and the missing ranks, "missing: rank 1, rank 3". After that, the name cannot
/// be used again. Passes on other errors of the store. All keys are `name` or begin with
/// it, and are not deleted. A rank sends at most five requests, and one more for each
/// rank of a Timeout's message: it never asks for the same thing again and again. (Like
/// the store-based barrier at the end of `torch.distributed.init_process_group`.)
void store_barrier(Store& store, const std::string& name, int rank, int world_size,
                   Deadline deadline);

}  // namespace mini::dist
