// Checks of the ranks of a new subgroup (`torch.distributed.new_group`).

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Returns the index in `ranks` of this rank of `parent`; -1 if it is not in the list.
int index_among(const std::vector<int>& ranks, const ProcessGroup& parent);

/// Checks the ranks of a new group: each in range, none twice, and the same list on every
/// rank of `parent`. Every rank of `parent` must call it; blocks until all have. Throws
/// UsageError on all ranks.
void check_subgroup(const std::vector<int>& ranks, ProcessGroup& parent);

}  // namespace mini::dist
