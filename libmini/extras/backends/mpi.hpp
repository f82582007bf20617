// Backend "mpi": the collectives of the installed MPI (Open MPI, MPICH, ...).
//
//     mpirun -n 4 ./train --backend mpi
//
// Rank and world size come from MPI, not from the environment. All operations are
// non-blocking MPI calls; a loop tests them, checks the deadline and polls the side
// channel. MPI_Init_thread, MPI_Comm_create_group and MPI_Finalize block without a
// deadline. This is safe: mpirun starts all ranks or none, the members of a subgroup have
// just connected to each other, and MPI is finalized only if no group has failed.
//
// After a failure MPI is not finalized: operations in flight cannot be cancelled, and
// MPI_Finalize would wait for them. mpirun then ends the other ranks.

#pragma once

#include <chrono>
#include <memory>

#include "libmini/distributed/group/queued_group.hpp"

namespace mini::dist {

struct MpiOptions {
    int rank = -1;        // the rank that the caller expects; -1: any
    int world_size = -1;  // the world size that the caller expects; -1: any
    bool verify = true;
    std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Registers the backend (backends/registry.hpp).
void use_mpi();

/// Initializes MPI if it is not initialized, and creates the group of all ranks of
/// MPI_COMM_WORLD; blocks until all ranks are connected. Throws UsageError if
/// MPI's rank or world size differs from `options`, for example because mpirun did not
/// start the process. Throws Error if a group of this
/// backend has failed before, Timeout naming the missing ranks, and PeerLost. MPI is
/// finalized when the process exits.
std::shared_ptr<QueuedGroup> make_mpi_group(const MpiOptions& options);

}  // namespace mini::dist
