// The kinds of groups over which the suite runs.
//
//     threads               ranks are threads of this process
//     ring-tcp, ring-shm    the same, over backend "ring" through one medium
//     gloo, ...             the same, over any other backend of init_process_group
//     env:mpi, env:gloo     this process is one rank, started by mpirun or minirun

#pragma once

#include <functional>
#include <string>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist::suite {

struct Kind {
    explicit Kind(const std::string& name);

    std::string name;
    std::string backend;
    bool is_process = false;  // one rank in this process
    bool ours = true;         // our own algorithms

    /// Returns why the kind cannot run here; "" if it can.
    std::string unavailable() const;
};

/// Calls body(group) for every rank of this process, each on its own thread if there are
/// several. Blocks until all ranks have returned. Rethrows the first exception. REQUIRES:
/// `world_size` is launched_world_size(kind) if kind.is_process.
void with_world(const Kind& kind, int world_size,
                const std::function<void(ProcessGroup&)>& body);

/// Returns the world size that the launcher has set for this process.
int launched_world_size(const Kind& kind);

}  // namespace mini::dist::suite
