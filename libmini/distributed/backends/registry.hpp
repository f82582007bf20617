// The backends that there are: what init_process_group chooses from.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// What `init_process_group` takes.
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

struct BackendEntry {
    std::string name;
    std::string why_not;  // "" when this build has it; else how to get it
    std::shared_ptr<ProcessGroup> (*make)(const InitOptions& options);
};

/// All backends, also those that this build lacks.
const std::vector<BackendEntry>& known_backends();

/// The one of that name. Throws UsageError for one that this build does not have, naming
/// those that it has and, if it is known, how to get it.
const BackendEntry& find_backend(const std::string& name);

}  // namespace mini::dist
