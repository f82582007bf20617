// The side channel of backend "mpi": our own connections between the ranks of MPI's world.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Our own connections of the same ranks, and what subgroups need to meet.
struct Side {
    std::unique_ptr<GroupTransport> transport;
    Cookie cookie{};
    std::string local_host;
};

/// Rank 0 keeps a store for a moment, MPI says where it is, and the mesh meets there.
/// Every rank of MPI's world calls it; blocks until all are connected. Throws Timeout after
/// `timeout` naming the ranks that are missing, and leaves MPI's requests as they are then.
Side connect_mpi_side(int rank, int world_size, std::chrono::milliseconds timeout);

}  // namespace mini::dist
