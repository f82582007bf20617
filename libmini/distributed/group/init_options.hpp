// The options of init_process_group.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libmini/distributed/transport/medium.hpp"

namespace mini::dist {

/// The arguments of `torch.distributed.init_process_group`, and three more: `medium`,
/// `verify` and `link`.
struct InitOptions {
    /// "ring" (processes) or "threads" (ranks of dist::run_threads); also "gloo", "mpi"
    /// and "nccl" of the extra "backends", if it is used.
    std::string backend = "ring";

    /// "env://" reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, or the variables of
    /// mpirun or srun (extra "launchers"). "tcp://host:port" and "file:///path" take
    /// rank and world size from the fields below, or from a suffix
    /// "?rank=R&world_size=W".
    std::string init_method = "env://";
    int rank = -1;
    int world_size = -1;
    std::chrono::milliseconds timeout = std::chrono::minutes(5);
    Medium medium = Medium::kAuto;  // for backend "ring"

    /// Whether the ranks compare their calls before each collective. std::nullopt: yes
    /// for "gloo" and "mpi", no for "nccl". Backends "ring" and "threads" always compare.
    std::optional<bool> verify = std::nullopt;

    /// For backend "ring": a slow network to emulate, like "100Mbit,5ms" (links.hpp). If
    /// `link` is empty, the environment variable MINI_LINK is used. REQUIRES: the same on
    /// all ranks.
    std::string link = "";
};

}  // namespace mini::dist
