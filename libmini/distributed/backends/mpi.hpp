// Backend "mpi": the collectives of whatever MPI is installed (Open MPI, MPICH, ...).
//
//     mpirun -n 4 ./train --backend mpi
//
// MPI knows this process's rank and the world size, whatever the environment says. All
// operations are the non-blocking ones, tested in a loop that has a deadline and watches
// the side channel. Without a deadline are MPI_Init, but mpirun starts all ranks or none,
// and MPI_Comm_create_group, for which members of a subgroup have just met.
//
// When a rank fails, MPI is left as it is: what is under way cannot be called back, so
// MPI_Finalize, which waits for it, is not called, and mpirun ends the other ranks.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/group/queued_group.hpp"

namespace mini::dist {

struct MpiOptions {
    int rank = -1;  // what the caller expects, if anything
    int world_size = -1;
    bool verify = true;
    std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// "" when this build has the backend; else how to get it.
std::string why_no_mpi();

/// Starts MPI, unless it runs, and makes the group of all its ranks. Throws UsageError
/// when the build lacks the backend, or when MPI sees other ranks than `options`, as in a
/// process that mpirun did not start. MPI is ended with the process.
std::shared_ptr<QueuedGroup> make_mpi_group(const MpiOptions& options);

}  // namespace mini::dist
