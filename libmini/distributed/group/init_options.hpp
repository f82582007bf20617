// The arguments of init_process_group.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// The arguments of `torch.distributed.init_process_group`, and some of our own.
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

}  // namespace mini::dist
