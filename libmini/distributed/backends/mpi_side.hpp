// The side channel of backend "mpi": our own connections between the ranks of MPI's
// world.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Our own connections between the same ranks, and the data for the rendezvous of
/// subgroups.
struct Side {
    std::unique_ptr<GroupTransport> transport;
    Cookie cookie{};
    std::string local_host;
};

/// Connects the ranks of MPI's world with a mesh. Rank 0 opens a temporary store and
/// sends its address over MPI; the ranks meet in the store. Every rank of MPI's world
/// must call it; blocks until all are connected. Throws Timeout after `timeout`, naming
/// the missing ranks; MPI's requests then stay pending.
Side connect_mpi_side(int rank, int world_size, std::chrono::milliseconds timeout);

}  // namespace mini::dist
