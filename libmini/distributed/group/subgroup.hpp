// The ranks that a subgroup is to have (`torch.distributed.new_group`).

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// The index in `ranks` of this rank of `parent`; -1 when it is not in the list.
int index_among(const std::vector<int>& ranks, const ProcessGroup& parent);

/// Checks the ranks of a new group: each in range, none twice, and the same list on every
/// rank of `parent`. Every rank of `parent` calls it; blocks until all have. Throws
/// UsageError, on all ranks alike.
void check_subgroup(const std::vector<int>& ranks, ProcessGroup& parent);

}  // namespace mini::dist
