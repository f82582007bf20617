// The kinds of groups that the suite runs over.
//
//     threads               ranks are threads of this process
//     ring-tcp, ring-shm    the same, over backend "ring" through one medium
//     gloo, ...             the same, over any other backend of init_process_group
//     env:mpi, env:gloo     this process is one rank: mpirun or minirun has started it

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist::suite {

struct Kind {
    explicit Kind(const std::string& name);

    std::string name;
    std::string backend;
    bool is_process = false;  // one rank in this process
    bool ours = true;         // our own algorithms

    /// Why it cannot run here; "" when it can.
    std::string unavailable() const;
};

/// Calls body(group) for every rank that this process has, each on a thread of its own
/// when there are several. REQUIRES: `world_size` is that of the launcher when the kind
/// is a process. Throws what the first of them threw.
void with_world(const Kind& kind, int world_size,
                const std::function<void(ProcessGroup&)>& body);

/// The world size that a launcher has given this process.
int launched_world_size(const Kind& kind);

}  // namespace mini::dist::suite
