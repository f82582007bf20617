// The side channel of backend "mpi": our own connections between the ranks of
// MPI_COMM_WORLD.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// The side channel, and the data for the rendezvous of subgroups.
struct Side {
    std::unique_ptr<GroupTransport> transport;
    Cookie cookie{};
    std::string local_host;
};

/// Connects the ranks of MPI_COMM_WORLD with a mesh. Rank 0 opens a temporary store and
/// sends the store's address over MPI; the ranks connect through the store. Every rank
/// must call this function; blocks until all ranks are connected. Throws Timeout after
/// `timeout`, naming the missing ranks; MPI requests of this function may then be
/// pending.
Side connect_mpi_side(int rank, int world_size, std::chrono::milliseconds timeout);

}  // namespace mini::dist
