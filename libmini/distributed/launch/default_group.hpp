// Creates the default process group of this rank (the module-level functions of
// `torch.distributed`). current_group.hpp has the functions that use the group: get_rank,
// get_world_size, new_group, destroy_process_group.

#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

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

/// Returns this rank's number on its host, which is also the index of its GPU; 0 without
/// a launcher. Throws UsageError if the launcher has not set the variable.
int get_local_rank();

/// The default group of a scope. The constructor is init_process_group.
///
///     const dist::ProcessGroupGuard group({.backend = "ring"});
///     group->all_reduce(x);
///
/// The destructor is destroy_process_group, so it blocks until all started operations are
/// done; it logs an error, and does nothing if the group was destroyed before. If an
/// exception ends the scope, it drops the group: it does not wait for operations, and
/// those of the other ranks throw PeerLost. REQUIRES: both run on one thread.
class ProcessGroupGuard {
  public:
    explicit ProcessGroupGuard(InitOptions options = {})
        : group_(init_process_group(std::move(options))) {}
    ~ProcessGroupGuard();
    ProcessGroupGuard(const ProcessGroupGuard&) = delete;
    ProcessGroupGuard& operator=(const ProcessGroupGuard&) = delete;

    ProcessGroup& operator*() const { return *group_; }
    ProcessGroup* operator->() const { return group_.get(); }

  private:
    std::shared_ptr<ProcessGroup> group_;
    int exceptions_ = std::uncaught_exceptions();
};

}  // namespace mini::dist
