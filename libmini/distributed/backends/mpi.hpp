// Backend "mpi": the collectives of the installed MPI (Open MPI, MPICH, ...).
//
//     mpirun -n 4 ./train --backend mpi
//
// Rank and world size come from MPI, not from the environment. All operations are
// non-blocking MPI calls, tested in a loop that checks the deadline and polls the side
// channel. Only two calls have no deadline: MPI_Init, but mpirun starts all ranks or
// none, and MPI_Comm_create_group, but the members of a subgroup have just connected.
//
// When a rank fails, MPI is not finalized: operations in flight cannot be cancelled, and
// MPI_Finalize would wait for them. mpirun then ends the other ranks.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/group/queued_group.hpp"

namespace mini::dist {

struct MpiOptions {
    int rank = -1;  // the value that the caller expects; -1: any
    int world_size = -1;
    bool verify = true;
    std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Returns "" if this build has the backend, else how to install it.
std::string why_no_mpi();

/// Initializes MPI, unless it is initialized, and creates the group of all its ranks.
/// Throws UsageError if the build lacks the backend, or if MPI's rank or world size
/// differs from `options`, as in a process that mpirun did not start. MPI is finalized
/// when the process exits.
std::shared_ptr<QueuedGroup> make_mpi_group(const MpiOptions& options);

}  // namespace mini::dist
