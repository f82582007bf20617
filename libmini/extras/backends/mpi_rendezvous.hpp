// How the ranks of MPI_COMM_WORLD find each other outside of MPI: rank 0 opens a temporary
// store, and sends the store's address over MPI.

#pragma once

#include <chrono>

#include "libmini/distributed/rendezvous/rendezvous.hpp"

namespace mini::dist {

struct MpiRendezvous {
    Rendezvous rendezvous;
    RendezvousConfig config;  // for connect_mesh
};

/// Joins the other ranks of MPI_COMM_WORLD; blocks until rank 0 has sent the address. Every
/// rank must call this function. Throws Timeout after `timeout` if rank 0 does not.
MpiRendezvous join_over_mpi(int rank, int world_size, std::chrono::milliseconds timeout);

}  // namespace mini::dist
