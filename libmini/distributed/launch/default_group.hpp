// Creates the default process group of this rank (the module-level functions of
// `torch.distributed`). current_group.hpp has the functions that use the group: get_rank,
// get_world_size, new_group, destroy_process_group.

#pragma once

#include <memory>
#include <string>

#include "libmini/distributed/group/current_group.hpp"
#include "libmini/distributed/group/init_options.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Returns whether this build has the backend with this name.
bool is_available(const std::string& backend);

/// Connects to the other ranks and creates the default group of this rank; blocks until
/// all ranks have joined. Throws UsageError if an option or environment variable is
/// missing or invalid, Timeout naming the ranks that did not join, and Error if this rank
/// already has a default group (`torch.distributed.init_process_group`).
std::shared_ptr<ProcessGroup> init_process_group(InitOptions options = {});

}  // namespace mini::dist
