// The default process group of the calling rank: the group that the module-level functions
// of `torch.distributed` use. launch/default_group.hpp creates it.
//
// The group belongs to a thread, because the ranks of run_threads are threads of one
// process.

#pragma once

#include <memory>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Returns whether this rank has a default group.
bool is_initialized();

/// Returns the default group. Throws Error if this rank has none.
std::shared_ptr<ProcessGroup> default_group();

/// Makes `group` the default group of the calling thread; if `group` is null, removes the
/// default group. run_threads calls this function on each of its threads.
void set_default_group(std::shared_ptr<ProcessGroup> group);

/// Returns the rank of this process or thread in the default group. Throws Error if there
/// is no default group.
int get_rank();

/// Returns the number of ranks in the default group. Throws Error if there is no default
/// group.
int get_world_size();

/// Creates a subgroup of the default group: see ProcessGroup::new_group.
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks);

/// Removes the default group and shuts the group down, as ProcessGroup::shutdown does
/// (`torch.distributed.destroy_process_group`). Throws Error if there is no default
/// group.
void destroy_process_group();

}  // namespace mini::dist
