// Checks of the ranks of a new subgroup (`torch.distributed.new_group`).

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Returns the index of parent.rank() in `ranks`; -1 if the rank is not in the list.
int index_among(const std::vector<int>& ranks, const ProcessGroup& parent);

/// Checks the ranks of a new group: every rank must be in range, no rank may be listed
/// twice, and the list must be the same on every rank of `parent`. Every rank of `parent`
/// must call this function; blocks until all have. Throws UsageError on all ranks if the
/// list is invalid.
void check_subgroup(const std::vector<int>& ranks, ProcessGroup& parent);

}  // namespace mini::dist
