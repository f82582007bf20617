// The default group of this rank: how it is made, found and ended
// (`torch.distributed`'s module-level functions).

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/dist/mesh.hpp"
#include "libmini/dist/process_group.hpp"

namespace mini::dist {

struct InitOptions {
    /// "ring" (processes) or "threads" (ranks of dist::run_threads); where their libraries
    /// are installed "gloo", "mpi" and "nccl" too.
    std::string backend = "ring";

    /// "env://" reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, or what mpirun or
    /// srun set instead (rank_variables.hpp); "tcp://host:port" and "file:///path" take
    /// rank and world size from below, or from "?rank=R&world_size=W" behind them.
    std::string init_method = "env://";
    int rank = -1;
    int world_size = -1;
    std::chrono::milliseconds timeout = std::chrono::minutes(5);
    Medium medium = Medium::kAuto;  // of backend "ring"

    /// Whether ranks compare what they are about to run before data moves: on unless said
    /// otherwise, but for nccl. Backends "ring" and "threads" always do.
    std::optional<bool> verify = std::nullopt;

    /// Backend "ring": a slow network to emulate, like "100Mbit,5ms"; MINI_LINK says so
    /// when this is empty. The same on all ranks.
    std::string link = "";
};

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
