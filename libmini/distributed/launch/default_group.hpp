// The default group of this rank: how it is made, found and ended
// (`torch.distributed`'s module-level functions).

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/init_options.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Whether this build can make groups of `backend`.
bool is_available(const std::string& backend);

/// Meets the other ranks and makes the default group of this rank; blocks until all are
/// there. Throws UsageError for options or variables that are missing or wrong, Timeout
/// naming the ranks that did not come, Error when called twice
/// (`torch.distributed.init_process_group`).
std::shared_ptr<ProcessGroup> init_process_group(InitOptions options = {});

/// Whether this rank has a default group; the group. The latter throws Error when there
/// is none.
bool is_initialized();
std::shared_ptr<ProcessGroup> default_group();

/// Makes `group` this rank's default group: what run_threads does for each of its
/// threads.
void set_default_group(std::shared_ptr<ProcessGroup> group);

/// Of the default group.
int get_rank();
int get_world_size();

/// Of `ranks`, out of the default group: see ProcessGroup::new_group.
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks);

/// Shuts the default group down (`torch.distributed.destroy_process_group`).
void destroy_process_group();

}  // namespace mini::dist
