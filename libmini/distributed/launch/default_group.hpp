// The default process group of this rank: creates, returns and destroys it
// (`torch.distributed`'s module-level functions).

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/init_options.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Returns whether this build has backend `backend`.
bool is_available(const std::string& backend);

/// Connects to the other ranks and creates the default group of this rank; blocks until
/// all ranks have joined. Throws UsageError for missing or invalid options or environment
/// variables, Timeout naming the ranks that did not join, Error if there is a default
/// group already (`torch.distributed.init_process_group`).
std::shared_ptr<ProcessGroup> init_process_group(InitOptions options = {});

/// Returns whether this rank has a default group.
bool is_initialized();

/// Returns the default group. Throws Error if this rank has none.
std::shared_ptr<ProcessGroup> default_group();

/// Makes `group` this rank's default group; null removes it. run_threads calls it on each
/// of its threads.
void set_default_group(std::shared_ptr<ProcessGroup> group);

/// Returns this rank in the default group. Throws Error without one.
int get_rank();

/// Returns the number of ranks in the default group. Throws Error without one.
int get_world_size();

/// Creates a subgroup of the default group: see ProcessGroup::new_group.
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks);

/// Removes the default group and shuts it down
/// (`torch.distributed.destroy_process_group`).
void destroy_process_group();

}  // namespace mini::dist
