// Backend "mpi": the collectives of the installed MPI (Open MPI, MPICH, ...).
//
//     mpirun -n 4 ./train --backend mpi
//
// Rank and world size come from MPI, not from the environment. Collectives are
// non-blocking MPI calls; a loop tests them, checks the deadline and polls the side
// channel, which carries point-to-point messages. MPI_Init_thread, MPI_Comm_create_group
// and MPI_Finalize block without a deadline. This is safe: mpirun starts all ranks or
// none, the members of a subgroup have just connected to each other, and MPI is finalized
// only if no group has failed.
//
// After a failure MPI is not finalized: operations in flight cannot be cancelled, and
// MPI_Finalize would wait for them. mpirun then ends the other ranks.

#pragma once

namespace mini::dist {

/// Registers the backend (backends/registry.hpp). Its first group initializes MPI, unless
/// the program has; MPI is finalized when the process exits. A group throws UsageError if
/// MPI's rank or world size differs from the options, for example because mpirun did not
/// start the process; Error if a group of this backend has failed before; Timeout naming
/// the missing ranks, and PeerLost.
void use_mpi();

}  // namespace mini::dist
